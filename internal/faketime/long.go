package faketime

import "time"

// Long bounds a wait for an event outside of a bubble, so that a test that hangs says what it has waited for. A test
// that passes never waits that long, however busy the machine is: nothing is proved by it, and no shorter one is used.
const Long = 5 * time.Minute
