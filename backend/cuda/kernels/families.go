package kernels

import _ "embed" // the texts are strings of the program: a family is not copied to be read

var (
	//go:embed argreduce.ptx
	argreducePTX string
	//go:embed combine.ptx
	combinePTX string
	//go:embed conv.ptx
	convPTX string
	//go:embed copy.ptx
	copyPTX string
	//go:embed gather.ptx
	gatherPTX string
	//go:embed linefold.ptx
	linefoldPTX string
	//go:embed masked.ptx
	maskedPTX string
	//go:embed matmul.ptx
	matmulPTX string
	//go:embed radix.ptx
	radixPTX string
	//go:embed reduce.ptx
	reducePTX string
	//go:embed scalar.ptx
	scalarPTX string
	//go:embed scan.ptx
	scanPTX string
	//go:embed scatter.ptx
	scatterPTX string
	//go:embed scatteratomic.ptx
	scatteratomicPTX string
	//go:embed scatterscan.ptx
	scatterscanPTX string
	//go:embed softmax.ptx
	softmaxPTX string
	//go:embed sort.ptx
	sortPTX string
	//go:embed sparseupdate.ptx
	sparseupdatePTX string
)

var texts = map[string]string{
	"argreduce":     argreducePTX,
	"combine":       combinePTX,
	"conv":          convPTX,
	"copy":          copyPTX,
	"gather":        gatherPTX,
	"linefold":      linefoldPTX,
	"masked":        maskedPTX,
	"matmul":        matmulPTX,
	"radix":         radixPTX,
	"reduce":        reducePTX,
	"scalar":        scalarPTX,
	"scan":          scanPTX,
	"scatter":       scatterPTX,
	"scatteratomic": scatteratomicPTX,
	"scatterscan":   scatterscanPTX,
	"softmax":       softmaxPTX,
	"sort":          sortPTX,
	"sparseupdate":  sparseupdatePTX,
}
