package jsonrpc

// frame is one outgoing message.
type frame struct {
	buf        []byte
	about      *tracked // the request that it belongs to, for Options.Tap; nil: the tap is not called
	code       int64    // the code of an error
	kind       Kind
	prev, next *frame
	state      frameState  // guarded by outbox.mu
	told       func(error) // see settle; may be nil
}

type frameState uint8

const (
	frameNew     frameState = iota
	frameQueued             // in the list
	frameTaken              // written, or being written: the other side may have seen it
	frameDropped            // removed before it was written
)

func newFrame(buf []byte) *frame { return &frame{buf: buf} }

// settle calls told, if it is set, with what became of the frame: nil if all of it was written, else the reason why it
// never will be. It is called once for each frame that push accepted, with no lock held.
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
