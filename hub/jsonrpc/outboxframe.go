package jsonrpc

// frame is one message on its way out.
type frame struct {
	buf        []byte
	about      *tracked // the request that it belongs to, for the tap; nil: nobody is told
	code       int64    // of an error
	kind       Kind
	prev, next *frame
	state      frameState  // guarded by outbox.mu
	told       func(error) // see settle; nil when nobody asks
}

type frameState uint8

const (
	frameNew     frameState = iota
	frameQueued             // in the list
	frameTaken              // written, or being written: the other side may have seen it
	frameDropped            // removed before it was written
)

func newFrame(buf []byte) *frame { return &frame{buf: buf} }

// settle tells what became of the frame, if somebody wants to know: nil when all of it was written, else why it never
// will be. It is called once for each frame that push took, with no lock held.
func (f *frame) settle(err error) {
	if f.told != nil {
		f.told(err)
	}
}

func settle(frames []*frame, err error) {
	for _, f := range frames {
		f.settle(err)
	}
}
