package main

import (
	"os"
	"testing"
	"time"
)

// processesOf removes the program, which Windows does not allow while a process of it runs: when that cannot be done
// for long, one is left. Which one is not told.
func processesOf(t *testing.T, path string) []int {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	bound := time.After(failureBound)
	for {
		err := os.Remove(path)
		if err == nil || os.IsNotExist(err) {
			return nil
		}
		select {
		case <-again.C:
		case <-bound:
			t.Errorf("a process of the program is left: %v", err)
			return nil
		}
	}
}
