package cuda

import (
	"github.com/adjoint-go/adjoint/backend/internal/planning"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/tensor"
)

// updates is what scatters of every kind begin with: the check of the indices, the copy of x to y where they are
// apart, and the slots of y that positions name.
type updates struct {
	operands planning.Operands
	check    *indexCheck
	size     int // elements of the updates
	copies   *mover
	slots    *slotPlan
}

// updatesState is what a run of them works with.
type updatesState struct {
	check checkArgs
	move  moveArgs
	keys  *keysRoom
	radix radixRoom
}

// newUpdates plans them for operands x, u, …; result y. room is what each state copies for its keys; there is none, and
// no slots, where there are no updates, unless y is spread over all positions.
func newUpdates(b *Backend, s *windowSpec, out, in []graph.Operand, spread bool) (k updates, room *keysRoom, err error) {
	k = updates{operands: b.operands(out, in, true), size: in[1].Size()}
	if k.check, err = newIndexCheck(b, s); err != nil {
		return k, nil, err
	}
	if k.copies, err = b.newMover(out[0].DType.Size(), out[0].Layout, in[0].Layout); err != nil || k.size == 0 && !spread {
		return k, nil, err
	}
	if k.slots, err = newSlotPlan(b, s, spread); err != nil {
		return k, nil, err
	}
	room, err = k.slots.newRoom()
	return k, room, err
}

// state is a new one, with room of its own.
func (room *keysRoom) state() updatesState {
	keys := *room
	return updatesState{keys: &keys}
}

// checked starts the check of the indices.
func (k *updates) checked(x *Exec, st *updatesState, in []tensor.Read) error {
	return k.check.run(x, in, &st.check)
}

// copied starts the copy of x to y, where y is not x.
func (k *updates) copied(x *Exec, st *updatesState, y tensor.Write, in tensor.Read) error {
	if tensor.Overlaps(y.View(), in.View()) {
		return nil
	}
	return k.copies.run(x, &st.move, addressOf(y.View()), addressOf(in.View()))
}
