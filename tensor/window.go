package tensor

// Window is a part of a storage, as a storage of its own that starts at byte 0 and can be moved: views on it go
// along. A kernel that was compiled for one layout so works on one part of a tensor after another, without new
// views. It has the placement, family, domain and handle of what it lies on, and overlaps it. It is aligned to
// its elements, not to Alignment. Whoever moves it makes sure that nobody reads or writes it meanwhile.
type Window struct{ storage Storage }

// NewWindow is a window of size bytes that lies nowhere yet.
func NewWindow(size int) *Window { return &Window{Storage{size: size}} }

// Storage is the window as a storage, the same one always.
func (w *Window) Storage() *Storage { return &w.storage }

// Move lays the window on the bytes of s from offset on. It allocates nothing. Error: ErrBounds where they are
// not all inside of s, ErrPlacement where s is nil.
func (w *Window) Move(s *Storage, offset int) error {
	size := w.storage.size
	if s == nil {
		return Errorf("tensor.Window.Move", ErrPlacement, "the storage is nil")
	}
	if offset < 0 || offset > s.size-size {
		return Errorf("tensor.Window.Move", ErrBounds, "bytes %d to %d of a storage of %d", offset, offset+size-1, s.size)
	}
	w.storage = *s
	w.storage.size, w.storage.whole, w.storage.offset = size, s.root(), s.offset+offset
	if s.host != nil {
		w.storage.host = s.host[offset : offset+size : offset+size]
	}
	return nil
}

// Clear takes the window off its storage, which it then no longer keeps alive.
func (w *Window) Clear() { w.storage = Storage{size: w.storage.size} }

// root is the storage that a window is a part of; of any other storage itself.
func (s *Storage) root() *Storage {
	if s.whole != nil {
		return s.whole
	}
	return s
}
