package ops_test
import ("testing";"fmt"
	"github.com/adjoint-go/adjoint/autograd"
	"github.com/adjoint-go/adjoint/backend/cpu"
	"github.com/adjoint-go/adjoint/graph"
	"github.com/adjoint-go/adjoint/ops"
	"github.com/adjoint-go/adjoint/tensor")
func TestZZ(t *testing.T){
	g:=graph.Eager(cpu.New())
	x:=ops.Reshape(ops.Arange(g,tensor.Float32,0,25,1),1,1,5,5)
	w:=ops.Sliding{Sizes:[]int{3,3},Strides:[]int{2,2},Low:[]int{1,1},High:[]int{1,1}}
	v,i:=ops.MaxPoolIndex(x,w)
	a:=ops.AvgPool(x,w,false)
	s:=ops.ReduceWindow(ops.ReduceSum,x,w)
	gr:=autograd.Grad(ops.Sum(v),x)[0]
	gs:=autograd.Grad(ops.Sum(s),x)[0]
	ga:=autograd.Grad(ops.Sum(ops.AvgPool(x,ops.Sliding{Sizes:[]int{2,2},Strides:[]int{2,2}},true)),x)[0]
	if g.Err()!=nil {t.Fatal(g.Err())}
	for _,n:=range []*graph.Node{v,i,a,s,gr,gs,ga}{ y,_:=n.Value(); fmt.Println(y)}
}
