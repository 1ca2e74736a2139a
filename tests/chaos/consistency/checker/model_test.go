package main

import (
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

var (
	ada  = user{"a", content{"Ada", "one@example.com"}, 1}
	ada2 = user{"a", content{"Ada Lovelace", "one@example.com"}, 2}
	bob  = user{"b", content{"Bob", "two@example.com"}, 1}
)

func created(key int, u user) operation {
	return operation{Kind: create, Key: key, content: u.content, Status: 201, User: u}
}

func rejected(status, key int, c content) operation {
	return operation{Kind: create, Key: key, content: c, Status: status}
}

func found(u user) operation { return operation{Kind: read, ID: u.ID, Status: 200, User: u} }

func missing(id string) operation { return operation{Kind: read, ID: id, Status: 404} }

// renamed is the change from ada to ada2.
func renamed(ifVersion int) operation {
	c := content{Name: ada2.Name}
	return operation{Kind: change, ID: "a", IfVersion: ifVersion, content: c, Status: 200, User: ada2}
}

func deleted(ifVersion int) operation {
	return operation{Kind: remove, ID: "a", IfVersion: ifVersion, Status: 200}
}

func failed(status int, o operation) operation {
	o.Status, o.User = status, user{}
	return o
}

func unknown(o operation) operation { return failed(0, o) }

// inOrder lets each operation begin after the previous response.
func inOrder(history ...operation) []operation {
	for i := range history {
		history[i].Call, history[i].Return = int64(10*i+1), int64(10*i+9)
	}
	return history
}

// atOnce lets the operations after the first overlap.
func atOnce(history ...operation) []operation {
	for i := range history[1:] {
		history[i+1].Client, history[i+1].Call, history[i+1].Return = i+1, 11, 19
	}
	history[0].Call, history[0].Return = 1, 9
	return history
}

var legal = map[string][]operation{
	"create, change, delete":                        inOrder(created(0, ada), found(ada), renamed(1), found(ada2), deleted(2), missing("a")),
	"a repeated key returns the user as created":    inOrder(created(0, ada), renamed(1), created(0, ada)),
	"a repeated key after the user was deleted":     inOrder(created(0, ada), deleted(1), created(0, ada), missing("a")),
	"a key with another body is rejected":           inOrder(created(0, ada), rejected(422, 0, bob.content)),
	"an e-mail address is taken until the deletion": inOrder(created(0, ada), rejected(409, 1, ada.content), deleted(1), created(1, user{"b", ada.content, 1})),
	"a stale condition is rejected":                 inOrder(created(0, ada), renamed(1), failed(412, renamed(1)), failed(412, deleted(1))),
	"of two equal conditions one is met":            atOnce(created(0, ada), renamed(1), failed(412, renamed(1))),
	"a concurrent read returns the old version":     atOnce(created(0, ada), renamed(1), found(ada)),
	"an unknown change took effect":                 inOrder(created(0, ada), unknown(renamed(1)), found(ada2)),
	"an unknown change had no effect":               inOrder(created(0, ada), unknown(renamed(1)), found(ada)),
	"an unknown change takes effect later":          inOrder(created(0, ada), unknown(renamed(1)), found(ada), found(ada2)),
	"an unknown creation took effect":               inOrder(unknown(created(0, ada)), rejected(409, 1, ada.content), created(0, ada)),
	"an unknown creation had no effect":             inOrder(unknown(created(0, ada)), created(1, user{"b", ada.content, 1}), rejected(409, 0, ada.content)),
}

var illegal = map[string][]operation{
	"lost update":                              atOnce(created(0, ada), renamed(1), renamed(1)),
	"overwritten update":                       inOrder(created(0, ada), renamed(1), operation{Kind: change, ID: "a", IfVersion: 1, content: bob.content, Status: 200, User: user{"a", bob.content, 3}}),
	"stale read":                               inOrder(created(0, ada), renamed(1), found(ada)),
	"read of a deleted user":                   inOrder(created(0, ada), deleted(1), found(ada)),
	"lost creation":                            inOrder(created(0, ada), missing("a")),
	"a key that created two users":             inOrder(created(0, ada), deleted(1), created(0, user{"b", ada.content, 1})),
	"a key that returned the user of another":  inOrder(created(0, ada), created(1, ada)),
	"an id of two users":                       inOrder(created(0, ada), created(1, user{"a", bob.content, 1})),
	"a key accepted with another body":         inOrder(created(0, ada), created(0, bob)),
	"two users with one e-mail address":        inOrder(created(0, ada), created(1, user{"b", ada.content, 1})),
	"an e-mail address taken by nobody":        inOrder(created(0, ada), rejected(409, 1, bob.content)),
	"an unknown change undone":                 inOrder(created(0, ada), unknown(renamed(1)), found(ada2), found(ada)),
	"an effect before the request":             inOrder(created(0, ada), found(ada2), renamed(1)),
	"a condition rejected without any change":  inOrder(created(0, ada), failed(412, renamed(1))),
	"a failed change that had an effect":       inOrder(created(0, ada), failed(412, renamed(2)), found(ada2)),
	"two versions that no order explains":      atOnce(created(0, ada), renamed(1), failed(412, renamed(2)), failed(404, renamed(1))),
	"an unknown creation with two user ids":    inOrder(unknown(created(0, ada)), created(0, ada), created(0, user{"b", ada.content, 1})),
	"a changed e-mail address of another user": inOrder(created(0, ada), created(1, bob), operation{Kind: change, ID: "b", content: content{Email: ada.Email}, Status: 200, User: user{"b", content{"Bob", ada.Email}, 2}}),
}

func checkAll(t *testing.T, histories map[string][]operation, expected porcupine.CheckResult) {
	for name, history := range histories {
		t.Run(name, func(t *testing.T) {
			if result := porcupine.CheckOperationsTimeout(model, toPorcupine(history), time.Minute); result != expected {
				t.Errorf("the result is %s:\n%s", result, describe(history))
			}
		})
	}
}

func TestLegalHistories(t *testing.T) { checkAll(t, legal, porcupine.Ok) }

func TestIllegalHistories(t *testing.T) { checkAll(t, illegal, porcupine.Illegal) }
