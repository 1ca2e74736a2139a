package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// minimize returns the shortest part of an illegal history that is illegal too: it ends with the
// response that no order of the operations explains, and contains no operation without effect that
// the conflict does not need.
func minimize(history []operation, timeout time.Duration) []operation {
	isIllegal := func(part []operation) bool {
		return porcupine.CheckOperationsTimeout(model, toPorcupine(part), timeout) == porcupine.Illegal
	}
	shortest := shortestPrefix(history, isIllegal)
	for i := len(shortest) - 1; i >= 0; i-- {
		rest := slices.Delete(slices.Clone(shortest), i, i+1)
		if shortest[i].hasNoEffect() && isIllegal(rest) {
			shortest = rest
		}
	}
	return shortest
}

func shortestPrefix(history []operation, isIllegal func([]operation) bool) []operation {
	byEnd := slices.SortedFunc(slices.Values(history), func(a, b operation) int {
		return cmp.Compare(a.end(), b.end())
	})
	for _, last := range byEnd {
		if part := until(history, last.end()); isIllegal(part) {
			return part
		}
	}
	return history
}

// until returns the history at a time: the outcome of a later response is unknown.
func until(history []operation, time int64) []operation {
	var part []operation
	for _, o := range history {
		if o.Call > time {
			continue
		}
		if o.end() > time {
			o.Status, o.User = 0, user{}
		}
		part = append(part, o)
	}
	return part
}

// describe returns one line per operation, in the order of their calls; times are relative to the first.
func describe(history []operation) string {
	sorted := slices.SortedFunc(slices.Values(history), func(a, b operation) int {
		return cmp.Compare(a.Call, b.Call)
	})
	var text strings.Builder
	for _, o := range sorted {
		end := "        …"
		if o.end() != math.MaxInt64 {
			end = fmt.Sprintf("%9.3f", milliseconds(o.Return-sorted[0].Call))
		}
		fmt.Fprintf(&text, "%9.3f – %s ms  client %d  %s\n", milliseconds(o.Call-sorted[0].Call), end, o.Client, o)
	}
	return text.String()
}

func milliseconds(micros int64) float64 { return float64(micros) / 1000 }
