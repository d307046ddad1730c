package cuda

import (
	"errors"
	"time"

	"github.com/adjoint-go/adjoint/backend/cuda/internal/driver"
)

// Elapsed is the device's own time for what start starts, between an event before it and one after it. What others
// start meanwhile counts too. It waits for all of it. Error: that of start, or ErrFault.
func (b *Backend) Elapsed(start func() error) (d time.Duration, err error) {
	var events [2]*driver.Event
	err = b.enter(func() error {
		for i := range events {
			if events[i], err = b.context.NewEvent(true); err != nil {
				return err
			}
		}
		return b.stream.Record(events[0])
	})
	if err == nil {
		err = start()
	}
	return d, errors.Join(err, b.enter(func() error {
		var errs []error
		if err == nil {
			errs = append(errs, b.stream.Record(events[1]), events[1].Sync())
			d, err = events[1].Since(events[0])
			errs = append(errs, err)
		}
		for _, e := range events {
			if e != nil {
				errs = append(errs, e.Destroy())
			}
		}
		return errors.Join(errs...)
	}))
}
