package faketime_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphub-go/mcphub/internal/faketime"
)

func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		faketime.Pass(0)
		faketime.Pass(time.Hour)
		if took := time.Since(began); took != time.Hour {
			t.Errorf("%v have passed", took)
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("it waits by the machine's clock")
		}
	}()
	faketime.Pass(1)
}

func TestGoroutines(t *testing.T) {
	stop := make(chan struct{})
	go waitUntil(stop)
	synctest.Test(t, func(t *testing.T) {
		own := make(chan struct{})
		for range 3 {
			go waitUntil(own)
		}
		synctest.Wait()
		if n := faketime.Goroutines("faketime_test.waitUntil("); n != 3 {
			t.Errorf("%d", n)
		}
		close(own)
		synctest.Wait()
		if n := faketime.Goroutines("faketime_test.waitUntil("); n != 0 {
			t.Errorf("%d at the end", n)
		}
	})
	close(stop)
}

func waitUntil(done chan struct{}) { <-done }
