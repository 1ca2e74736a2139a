package main

import "github.com/anishathalye/porcupine"

// maxKeys is the number of idempotency keys of a group.
const maxKeys = 4

// impossible is a status that no response has.
const impossible = -1

// account is what the service stores for an idempotency key: the first request, and its user.
type account struct {
	isUsed bool
	first  content
	// exists is false after the user was deleted.
	exists bool
	// current.ID is empty until a response contains it.
	current user
}

// state is the specification of a group of users: keys and e-mail addresses that no other group uses.
// The accounts are in the order of their keys. As an array it is copied and compared by value.
type state [maxKeys]account

// apply returns the response that the service must send in this state, and the next state.
func (s state) apply(o operation) (int, user, state) {
	if o.Kind == create {
		return s.create(o)
	}
	i := s.find(o.ID)
	switch {
	case i < 0:
		return 404, user{}, s
	case o.Kind == read:
		return 200, s[i].current, s
	case o.IfVersion != 0 && o.IfVersion != s[i].current.Version:
		return 412, user{}, s
	case o.Kind == remove:
		s[i].exists = false
		return 200, user{}, s
	case o.Email != "" && s.isTaken(o.Email, i):
		return 409, user{}, s
	}
	s[i].current = s[i].current.changed(o.content)
	return 200, s[i].current, s
}

// create repeats the response of the first request with the key, if there was one.
func (s state) create(o operation) (int, user, state) {
	a := &s[o.Key]
	switch {
	case a.isUsed && a.first != o.content:
		return 422, user{}, s
	case !a.isUsed && s.isTaken(o.Email, o.Key):
		return 409, user{}, s
	case !a.isUsed && s.isKnown(o.User.ID):
		return impossible, user{}, s
	case !a.isUsed:
		*a = account{isUsed: true, first: o.content, exists: true, current: user{"", o.content, 1}}
	}
	if a.current.ID == "" {
		a.current.ID = o.User.ID
	}
	return 201, user{a.current.ID, a.first, 1}, s
}

func (u user) changed(c content) user {
	if c.Name != "" {
		u.Name = c.Name
	}
	if c.Email != "" {
		u.Email = c.Email
	}
	u.Version++
	return u
}

// find returns the index of an existing user, or -1.
func (s state) find(id string) int {
	for i, a := range s {
		if a.exists && a.current.ID == id {
			return i
		}
	}
	return -1
}

// isKnown reports whether a user has or had the id.
func (s state) isKnown(id string) bool {
	for _, a := range s {
		if id != "" && a.current.ID == id {
			return true
		}
	}
	return false
}

// isTaken reports whether another user than that of the key has the e-mail address.
func (s state) isTaken(email string, key int) bool {
	for i, a := range s {
		if i != key && a.exists && a.current.Email == email {
			return true
		}
	}
	return false
}

// model accepts an operation if its response is the one that the specification predicts. An operation
// with an unknown outcome that had no effect is accepted after all others, where its effect is not seen.
var model = porcupine.Model{
	Init: func() any { return state{} },
	Step: func(before, input, _ any) (bool, any) {
		o := input.(operation)
		status, user, after := before.(state).apply(o)
		return o.isUnknown() || (o.Status == status && o.User == user), after
	},
	DescribeOperation: func(input, _ any) string { return input.(operation).String() },
}
