// Command checker reads a history of operations on users from its standard input and checks that it is
// linearizable: that each response is the one of a service that executes one operation after the other,
// each between its request and its response.
//
// Each line of the input is one group of users as JSON, whose operations concern no other group. Only one
// group at a time is in memory. The output is one line of JSON; the smallest violation follows on
// standard error, in words. The exit code is 1 if there is a violation, or a group for which the time
// limit was too short.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// group is a line of the input.
type group struct {
	Name       string      `json:"name"`
	Operations []operation `json:"operations"`
}

// summary is the output.
type summary struct {
	Groups     int `json:"groups"`
	Operations int `json:"operations"`
	// Unknown is the number of operations without a response.
	Unknown int `json:"unknown"`
	// Violations is the number of groups that are not linearizable.
	Violations int `json:"violations"`
	// Undecided is the number of groups for which the time limit was too short.
	Undecided int `json:"undecided"`
	// FirstViolationAfter is the number of operations up to the end of the first illegal group, or 0.
	FirstViolationAfter int `json:"firstViolationAfter"`

	smallest *group
}

func main() {
	timeout := flag.Duration("timeout", 10*time.Second, "time limit per group")
	visualization := flag.String("visualization", "", "HTML file for the smallest violation")
	flag.Parse()

	result, err := check(os.Stdin, *timeout)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err == nil && result.Violations > 0 {
		err = report(*result.smallest, *visualization)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if result.Violations+result.Undecided > 0 {
		os.Exit(1)
	}
}

// check reads groups until the end of the input.
func check(input io.Reader, timeout time.Duration) (summary, error) {
	var result summary
	for decoder := json.NewDecoder(input); ; {
		var next group
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			return result, nil
		} else if err != nil {
			return result, fmt.Errorf("Cannot read group %d: %w", result.Groups+1, err)
		}
		for _, o := range next.Operations {
			if err := o.validate(); err != nil {
				return result, err
			}
		}
		result.add(next, timeout)
	}
}

func (s *summary) add(next group, timeout time.Duration) {
	s.Groups++
	s.Operations += len(next.Operations)
	for _, o := range next.Operations {
		if o.isUnknown() {
			s.Unknown++
		}
	}
	switch porcupine.CheckOperationsTimeout(model, toPorcupine(next.Operations), timeout) {
	case porcupine.Unknown:
		s.Undecided++
	case porcupine.Illegal:
		s.Violations++
		if s.FirstViolationAfter == 0 {
			s.FirstViolationAfter = s.Operations
		}
		smallest := minimize(next.Operations, timeout)
		if s.smallest == nil || len(smallest) < len(s.smallest.Operations) {
			s.smallest = &group{next.Name, smallest}
		}
	}
}

// report prints a violation and draws it.
func report(violation group, file string) error {
	fmt.Fprintf(os.Stderr, "No order of these operations explains all responses (group %s):\n%s",
		violation.Name, describe(violation.Operations))
	if file == "" {
		return nil
	}
	_, info := porcupine.CheckOperationsVerbose(model, toPorcupine(violation.Operations), 0)
	return porcupine.VisualizePath(model, info, file)
}
