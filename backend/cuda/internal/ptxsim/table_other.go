//go:build !linux

package ptxsim

import "github.com/adjoint-go/adjoint/backend/cuda/internal/driver"

// Open is a table without functions: on this system package driver calls none.
func Open() *driver.API { return new(driver.API) }
