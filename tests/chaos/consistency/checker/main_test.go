package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func lineOf(t *testing.T, name string, history []operation) string {
	line, err := json.Marshal(group{name, history})
	if err != nil {
		t.Fatal(err)
	}
	return string(line) + "\n"
}

func TestCheckCountsGroupsAndNamesTheSmallestViolation(t *testing.T) {
	long := inOrder(created(1, bob), created(0, ada), renamed(1), found(bob), found(ada))
	short := inOrder(created(0, ada), found(ada), missing("a"), found(ada))
	input := lineOf(t, "legal", legal["an unknown change took effect"]) + lineOf(t, "long", long) + lineOf(t, "short", short)

	result, err := check(strings.NewReader(input), time.Minute)

	if err != nil {
		t.Fatal(err)
	}
	smallest := result.smallest
	result.smallest = nil
	if (result != summary{Groups: 3, Operations: 12, Unknown: 1, Violations: 2, FirstViolationAfter: 8}) {
		t.Errorf("the summary is %+v", result)
	}
	expected := "    0.000 –     0.008 ms  client 0  create with key 0 name \"Ada\" email one@example.com: 201, user a version 1 name \"Ada\" email one@example.com\n" +
		"    0.020 –     0.028 ms  client 0  read a: 404\n"
	if text := describe(smallest.Operations); smallest.Name != "short" || text != expected {
		t.Errorf("the smallest violation is %s:\n%s", smallest.Name, text)
	}
}

func TestCheckReportsAGroupThatTakesTooLong(t *testing.T) {
	var history []operation
	for range 40 {
		history = append(history, unknown(renamed(0)))
	}
	history = append(inOrder(created(0, ada)), append(atOnce(history...), inOrder(missing("a"))...)...)

	result, err := check(strings.NewReader(lineOf(t, "long", history)), time.Nanosecond)

	if err != nil || result.Undecided != 1 {
		t.Errorf("the summary is %+v, the error %v", result, err)
	}
}

func TestCheckRejectsUnreadableInput(t *testing.T) {
	for input, expected := range map[string]string{
		"{": "Cannot read group 1: unexpected EOF",
		`{"operations":[{"kind":"create","key":4}]}`: "Cannot check",
		`{"operations":[{"kind":"read"}]}`:           "Cannot check",
		`{"operations":[{"kind":"patch","id":"a"}]}`: "Cannot check",
	} {
		if _, err := check(strings.NewReader(input), time.Minute); err == nil || !strings.HasPrefix(err.Error(), expected) {
			t.Errorf("%s: the error is %v, expected %s", input, err, expected)
		}
	}
}

func TestReportDrawsTheViolation(t *testing.T) {
	file := filepath.Join(t.TempDir(), "violation.html")

	if err := report(group{"drawn", illegal["stale read"]}, file); err != nil {
		t.Fatal(err)
	}

	if page, err := os.ReadFile(file); err != nil || !strings.Contains(string(page), "read a: 200") {
		t.Errorf("the page does not contain the stale read (%v)", err)
	}
}
