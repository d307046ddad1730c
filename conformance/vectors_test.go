package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// demand is what every case must pass now: a schema, the ops of it, and why.
type demand struct {
	schema string
	wants  func(c Case) bool
	reason string
}

// demands grow until each schema is wanted whole.
var demands = []demand{
	{"index", always, "NumPy's index language is complete, errors included"},
	{"stablehlo", ops("gather", "scatter", "dynamic_slice", "dynamic_update_slice", "take"), "the indexing primitives carry it"},
	{"stablehlo", ops("slice", "pad", "concatenate", "reverse", "reshape", "transpose", "broadcast_in_dim"), "views and movement"},
	{"stablehlo", ops("select", "select_n", "clamp", "iota"), "elementwise"},
	{"stablehlo", ops("argmax", "argmin"), "arg-reductions"},
	{"stablehlo", plainReduce, "reductions; a custom combiner, which complex extremes are too, is not built yet"},
	{"grad", ops("index", "index_put", "index_put_accumulate", "index_select", "index_add", "index_copy"), "gradients of indexing"},
	{"grad", ops("gather", "scatter", "scatter_add", "scatter_reduce", "take", "take_along_dim", "embedding"), "gradients of gather and scatter"},
	{"grad", ops("where", "masked_fill", "masked_select", "slice", "flip", "roll", "tril", "diagonal"), "gradients of movement and selection"},
	{"grad", ops("concat", "stack", "pad", "unfold", "repeat_interleave", "dynamic_slice", "dynamic_update_slice"), "gradients of movement"},
	{"grad", ops("amax", "amin", "max", "min", "max_all", "min_all"), "gradients of extremes, ties shared"},
	{"grad", ops("sum", "mean", "prod", "prod_all", "logsumexp", "softmax", "log_softmax", "nll_loss"), "gradients of reductions"},
	{"ref", ops("window_gather", "window_scatter", "index", "arg_reduce", "guard"), "our own rules, to second order"},
	{"ref", refReductions, "reductions; var, std and norm have no builders yet"},
}

func always(Case) bool { return true }

func ops(names ...string) func(Case) bool {
	return func(c Case) bool { return slices.Contains(names, c.Op) }
}
