package ptx

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Value is what one step of a kernel makes: the registers that hold an element. An element of a byte is in a
// register of 16 bits, zero-extended.
type Value struct {
	regs []string
	bits int // of a register's content: 8, 16, 32 or 64
}

// Kernel is a kernel that is being written: its declarations, then its instructions.
type Kernel struct {
	lib       *Library
	name      string
	params    string
	registers strings.Builder
	code      strings.Builder
	functions []string // that are called, those that they call first
	globals   []string
	count     int
}

// NewKernel begins a kernel with the parameters given, in PTX.
func NewKernel(lib *Library, name, params string) *Kernel {
	return &Kernel{lib: lib, name: name, params: params}
}

// Emit writes instructions, a line each, without the semicolon; a line that ends with a colon is a label.
func (k *Kernel) Emit(format string, args ...any) {
	line := strings.TrimSpace(fmt.Sprintf(format, args...))
	k.code.WriteString(line)
	if !strings.HasSuffix(line, ":") {
		k.code.WriteByte(';')
	}
	k.code.WriteByte('\n')
}

// Register declares a register of a type: pred, b32, u64…
func (k *Kernel) Register(typ string) string {
	k.count++
	r := fmt.Sprintf("%%%s_%d", typ, k.count)
	fmt.Fprintf(&k.registers, ".reg .%s %s;\n", typ, r)
	return r
}

// Value declares the registers of an element of count words of some bits.
func (k *Kernel) Value(bits, count int) Value {
	v := Value{bits: bits}
	for range count {
		v.regs = append(v.regs, k.Register(fmt.Sprint("b", max(bits, 16))))
	}
	return v
}

// Of is the element in a register.
func Of(bits int, register string) Value { return Value{[]string{register}, bits} }

// Registers are the names of a value's registers.
func (v Value) Registers() []string { return v.regs }

// suffix is the .v2 of an access to two words.
func (v Value) suffix() string {
	if len(v.regs) == 2 {
		return ".v2"
	}
	return ""
}

func (v Value) operand() string {
	if len(v.regs) == 2 {
		return "{" + v.regs[0] + ", " + v.regs[1] + "}"
	}
	return v.regs[0]
}

// Load reads an element of global memory.
func (k *Kernel) Load(v Value, address string) { k.LoadFrom("global", v, address) }

// Store writes an element to global memory.
func (k *Kernel) Store(address string, v Value) { k.StoreTo("global", address, v) }

// LoadFrom reads an element of a state space: global, shared, local.
func (k *Kernel) LoadFrom(space string, v Value, address string) { k.LoadWhere("", space, v, address) }

// StoreTo writes an element to a state space.
func (k *Kernel) StoreTo(space, address string, v Value) { k.StoreWhere("", space, address, v) }

// LoadWhere is LoadFrom under a guard: @%p, or none.
func (k *Kernel) LoadWhere(guard, space string, v Value, address string) {
	k.Emit("%s ld.%s%s.%s%d %s, [%s]", guard, space, v.suffix(), loadType(v.bits), v.bits, v.operand(), address)
}

// StoreWhere is StoreTo under a guard.
func (k *Kernel) StoreWhere(guard, space, address string, v Value) {
	k.Emit("%s st.%s%s.b%d [%s], %s", guard, space, v.suffix(), v.bits, address, v.operand())
}

// Move copies an element to other registers.
func (k *Kernel) Move(to, from Value) { k.MoveWhere("", to, from) }

// MoveWhere is Move under a guard.
func (k *Kernel) MoveWhere(guard string, to, from Value) {
	for i, r := range to.regs {
		k.Emit("%s mov.b%d %s, %s", guard, max(to.bits, 16), r, from.regs[i])
	}
}

// Room is the name of the memory that threads of a block share, as much as a launch asks for. It is declared where it is
// asked for, or a function uses it.
func (k *Kernel) Room() string {
	k.globals = appendNew(k.globals, "room")
	return "room"
}

// Set is the element with some bytes, as they lie in memory.
func (k *Kernel) Set(v Value, element []byte) {
	size := len(element) / len(v.regs)
	for i, r := range v.regs {
		var word uint64
		for b := range size {
			word |= uint64(element[i*size+b]) << (8 * b)
		}
		k.Emit("mov.b%d %s, 0x%x", max(v.bits, 16), r, word)
	}
}

// Declare declares a variable of the kernel: .shared or .local.
func (k *Kernel) Declare(format string, args ...any) {
	fmt.Fprintf(&k.registers, format+";\n", args...)
}

// Label is a new name for a place in the code.
func (k *Kernel) Label() string {
	k.count++
	return fmt.Sprintf("$B_%d", k.count)
}

// loadType makes bytes zero-extended.
func loadType(bits int) string {
	if bits == 8 {
		return "u"
	}
	return "b"
}

// longest is the instructions of a function that is set into a kernel; longer ones are called.
const longest = 160

// Call applies a scalar function to elements and gives an element of the result's bits, those of a register.
func (k *Kernel) Call(name string, bits int, args ...Value) (Value, error) {
	f, err := k.lib.function(name)
	if err != nil {
		return Value{}, err
	}
	if len(args) != len(f.params) {
		return Value{}, fmt.Errorf("ptx: %s takes %d operands, not %d", name, len(f.params), len(args))
	}
	for i, a := range args {
		if len(a.regs) != f.params[i].count {
			return Value{}, fmt.Errorf("ptx: operand %d of %s has %d words, not %d", i, name, f.params[i].count, len(a.regs))
		}
	}
	result := k.Value(bits, f.result.count)
	if err := k.need(f); err != nil {
		return Value{}, err
	}
	if len(f.body) > longest {
		k.call(f, result, args)
		k.functions = appendNew(k.functions, name)
		return result, nil
	}
	return result, k.splice(f, result, args)
}

// need takes over what f refers to.
func (k *Kernel) need(f *scalar) error {
	k.globals = appendNew(k.globals, f.globals...)
	for _, name := range f.calls {
		if slices.Contains(k.functions, name) {
			continue
		}
		g, err := k.lib.function(name)
		if err != nil {
			return err
		}
		if err := k.need(g); err != nil {
			return err
		}
		k.functions = appendNew(k.functions, name)
	}
	return nil
}

func appendNew(list []string, names ...string) []string {
	for _, n := range names {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// call writes a call by the ABI.
func (k *Kernel) call(f *scalar, result Value, args []Value) {
	k.code.WriteString("{\n")
	var names []string
	for i, a := range args {
		name := fmt.Sprint("param", i)
		names = append(names, name)
		k.Emit("%s", strings.Replace(f.params[i].declaration, "%", name, 1))
		for w, r := range a.regs {
			if bits := f.params[i].bits; bits > max(a.bits, 16) {
				wide := k.Register("b32")
				k.Emit("cvt.u32.u16 %s, %s", wide, r)
				r = wide
			}
			k.Emit("st.param.b%d [%s+%d], %s", f.params[i].bits, name, w*f.params[i].bits/8, r)
		}
	}
	k.Emit("%s", strings.Replace(f.result.declaration, "%", "retval0", 1))
	k.Emit("call.uni (retval0), %s, (%s)", f.name, strings.Join(names, ", "))
	for w, r := range result.regs {
		from := fmt.Sprintf("[retval0+%d]", w*f.result.bits/8)
		if f.result.bits > max(result.bits, 16) {
			wide := k.Register("b32")
			k.Emit("ld.param.b32 %s, %s", wide, from)
			k.store(r, wide, result.bits)
			continue
		}
		k.Emit("ld.param.b%d %s, %s", f.result.bits, r, from)
	}
	k.code.WriteString("}\n")
}

var (
	registerPattern  = regexp.MustCompile(`%(rs|rd|r|fd|f|p|SPL|SP)\b`)
	numberedPattern  = regexp.MustCompile(`%(rs|rd|r|fd|f|p)(\d+)\b`)
	declaredPattern  = regexp.MustCompile(`%(rs|rd|r|fd|f|p)<`)
	labelPattern     = regexp.MustCompile(`\$L_[\w$]*|__local_depot\d+`)
	loadParamPattern = regexp.MustCompile(`^ld\.param(\.v2)?\.([bsuf])(\d+)\s+(.*), \[(\S+?)(?:\+(\d+))?\];$`)
	saveParamPattern = regexp.MustCompile(`^st\.param(\.v2)?\.[bsuf](\d+)\s+\[func_retval0\+?(\d*)\], (.*);$`)
)

// ownName stands in the body of a function where, set into a kernel, its registers and labels have a name of their own.
const ownName = "\x00"

// named marks these places in a line.
func named(line string) string {
	line = labelPattern.ReplaceAllString(line, "${0}_"+ownName)
	line = declaredPattern.ReplaceAllString(line, "%"+ownName+"$1<")
	line = numberedPattern.ReplaceAllString(line, "%"+ownName+"$1$2")
	return registerPattern.ReplaceAllString(line, "%"+ownName+"$1")
}

// splice sets the body of a function into the kernel: its registers and labels get names of their own, its
// parameters are the registers of the operands.
func (k *Kernel) splice(f *scalar, result Value, args []Value) error {
	k.count++
	own := fmt.Sprintf("s%d_", k.count)
	end := fmt.Sprintf("$L_end%d", k.count)
	for _, line := range f.body {
		line = strings.ReplaceAll(line, ownName, own)
		switch {
		case strings.HasPrefix(line, ".reg"), strings.HasPrefix(line, ".local"):
			k.registers.WriteString(line + "\n")
		case line == "ret;":
			k.Emit("bra %s", end)
		case strings.HasPrefix(line, "@") && strings.HasSuffix(line, " ret;"):
			k.Emit("%s", strings.TrimSuffix(line, "ret;")+"bra "+end)
		default:
			if err := k.line(f, line, result, args); err != nil {
				return err
			}
		}
	}
	k.Emit("%s:", end)
	return nil
}

// line writes a line of a function's body.
func (k *Kernel) line(f *scalar, line string, result Value, args []Value) error {
	param := strings.HasPrefix(line, "ld.param") || strings.HasPrefix(line, "st.param")
	if !param && !strings.Contains(line, "_param_") && !strings.Contains(line, "func_retval0") {
		k.code.WriteString(line + "\n")
		return nil
	}
	if m := loadParamPattern.FindStringSubmatch(line); m != nil && strings.HasPrefix(m[5], f.name+"_param_") {
		i := atoi(strings.TrimPrefix(m[5], f.name+"_param_"))
		first := 8 * atoi(m[6]) / f.params[i].bits
		for n, to := range registersOf(m[4]) {
			k.load(to, args[i].regs[first+n], m[2], atoi(m[3]))
		}
		return nil
	}
	if m := saveParamPattern.FindStringSubmatch(line); m != nil {
		first := 8 * atoi(m[3]) / f.result.bits
		for n, from := range registersOf(m[4]) {
			k.store(result.regs[first+n], from, result.bits)
		}
		return nil
	}
	if strings.Contains(line, f.name+"_param_") || strings.Contains(line, "func_retval0") {
		return fmt.Errorf("ptx: %s uses its parameters in a way that is not understood: %s", f.name, line)
	}
	k.code.WriteString(line + "\n")
	return nil
}

func registersOf(list string) []string {
	regs := strings.Split(strings.Trim(list, "{} "), ",")
	for i := range regs {
		regs[i] = strings.TrimSpace(regs[i])
	}
	return regs
}

// load is ld.param of a word that is in a register.
func (k *Kernel) load(to, from, kind string, bits int) {
	width := widthOf(to)
	switch {
	case width == bits || width == 16 && bits == 8 && kind != "s":
		k.Emit("mov.b%d %s, %s", width, to, from)
	case bits == 8 && kind != "s":
		k.Emit("cvt.u%d.u16 %s, %s", width, to, from)
	case kind == "s":
		k.Emit("cvt.s%d.s%d %s, %s", width, bits, to, from)
	default:
		k.Emit("cvt.u%d.u%d %s, %s", width, bits, to, from)
	}
}

// store is st.param of a word into a register: a register of 16 bits takes the low ones.
func (k *Kernel) store(to, from string, bits int) {
	switch width := widthOf(from); {
	case width == 0 && (strings.HasPrefix(from, "0f") || strings.HasPrefix(from, "0d")):
		k.Emit("mov.f%d %s, %s", bits, to, from)
	case width == 0: // an integer
		k.Emit("mov.b%d %s, %s", max(bits, 16), to, from)
	case width == max(bits, 16):
		k.Emit("mov.b%d %s, %s", width, to, from)
	default:
		k.Emit("cvt.u%d.u%d %s, %s", max(bits, 16), width, to, from)
	}
	if bits == 8 {
		k.Emit("and.b16 %s, %s, 255", to, to)
	}
}

// widthOf is the bits of a register by its name, 0 for a number.
func widthOf(r string) int {
	if !strings.HasPrefix(r, "%") {
		return 0
	}
	_, kind, _ := strings.Cut(r, "_")
	switch kind = strings.TrimRight(kind, "0123456789"); kind {
	case "rs":
		return 16
	case "r", "f":
		return 32
	case "rd", "fd", "SP", "SPL":
		return 64
	}
	return atoi(strings.TrimPrefix(strings.TrimPrefix(r, "%b"), "%u")[:2]) // one of Register's: %b32_7
}

// Text is the module.
func (k *Kernel) Text() (string, error) {
	var b strings.Builder
	b.WriteString(".version 6.3\n.target sm_70\n.address_size 64\n")
	for _, name := range k.functions {
		f, err := k.lib.function(name)
		if err != nil {
			return "", err
		}
		k.globals = appendNew(k.globals, f.globals...)
	}
	for _, name := range k.globals {
		b.WriteString(k.lib.globals[name] + "\n")
	}
	for _, name := range k.functions {
		f, _ := k.lib.function(name)
		b.WriteString(f.text)
	}
	fmt.Fprintf(&b, ".visible .entry %s(%s)\n{\n%s%s}\n", k.name, k.params, k.registers.String(), k.code.String())
	return b.String(), nil
}
