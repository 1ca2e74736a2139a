package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/anishathalye/porcupine"
)

// The kinds of operations.
const (
	create = "create"
	read   = "read"
	change = "change"
	remove = "delete"
)

// content is what a client sends.
type content struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// user is what the service returns.
type user struct {
	ID string `json:"id"`
	content
	Version int `json:"version"`
}

// operation is one request and its response.
type operation struct {
	Client int `json:"client"`
	// Call and Return are monotonic times in microseconds.
	Call   int64 `json:"call"`
	Return int64 `json:"return"`

	Kind string `json:"kind"`
	// Key is the number of the idempotency key; only of create.
	Key int `json:"key"`
	// ID is the user of every kind except create.
	ID string `json:"id"`
	// IfVersion is the version in If-Match, or 0.
	IfVersion int `json:"ifVersion"`
	// The empty fields of a change keep their value.
	content

	// Status is 0 if the outcome is unknown: the operation may take effect at any time after Call.
	Status int `json:"status"`
	// User is empty if the response contains none.
	User user `json:"user"`
}

func (o operation) validate() error {
	switch {
	case o.Kind == create && o.Key >= 0 && o.Key < maxKeys:
	case (o.Kind == read || o.Kind == change || o.Kind == remove) && o.ID != "":
	default:
		return fmt.Errorf("Cannot check %+v: expected an operation with key 0 to %d or an id", o, maxKeys-1)
	}
	return nil
}

func (o operation) isUnknown() bool { return o.Status == 0 }

// hasNoEffect reports whether a history without the operation allows the same effects.
func (o operation) hasNoEffect() bool { return o.Kind == read || o.Status >= 400 }

// end is when the operation has taken effect at the latest.
func (o operation) end() int64 {
	if o.isUnknown() {
		return math.MaxInt64
	}
	return o.Return
}

// String returns one line in words.
func (o operation) String() string {
	return fmt.Sprintf("%s: %s", o.request(), o.response())
}

func (o operation) request() string {
	words := []string{o.Kind}
	if o.Kind == create {
		words = append(words, fmt.Sprintf("with key %d", o.Key))
	} else {
		words = append(words, o.ID)
	}
	if o.Name != "" {
		words = append(words, fmt.Sprintf("name %q", o.Name))
	}
	if o.Email != "" {
		words = append(words, "email "+o.Email)
	}
	if o.IfVersion != 0 {
		words = append(words, fmt.Sprintf("if version %d", o.IfVersion))
	}
	return strings.Join(words, " ")
}

func (o operation) response() string {
	switch {
	case o.isUnknown():
		return "no response yet"
	case o.User == user{}:
		return fmt.Sprint(o.Status)
	default:
		u := o.User
		return fmt.Sprintf("%d, user %s version %d name %q email %s", o.Status, u.ID, u.Version, u.Name, u.Email)
	}
}

// toPorcupine converts a history; the response is a part of the input, because the model predicts it.
func toPorcupine(history []operation) []porcupine.Operation {
	converted := make([]porcupine.Operation, len(history))
	for i, o := range history {
		converted[i] = porcupine.Operation{ClientId: o.Client, Input: o, Call: o.Call, Return: o.end()}
	}
	return converted
}
