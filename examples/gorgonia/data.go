package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// packages are the classes: which of them a function was written in is what the model learns to say.
var packages = []string{
	"bufio", "compress/flate", "crypto/tls", "database/sql", "encoding/json", "encoding/xml", "go/types",
	"html/template", "image/jpeg", "math/big", "net/http", "reflect", "regexp/syntax", "time",
}

const (
	padding = 0 // the token after the last word of a short function
	unknown = 1 // the token of a word that training did not see twice
)

// example is a function of the standard library: the words of its identifiers in order, and its class.
type example struct {
	words  []string
	tokens []int32
	class  int32
}

// readFunctions parses the sources of the packages under a GOROOT, tests left out.
func readFunctions(goroot string) ([]example, error) {
	var all []example
	for class, pkg := range packages {
		files, err := filepath.Glob(filepath.Join(goroot, "src", filepath.FromSlash(pkg), "*.go"))
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
			if err != nil {
				return nil, err
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					if words := wordsOf(fn); len(words) >= 3 {
						all = append(all, example{words: words, class: int32(class)})
					}
				}
			}
		}
		if len(all) == before {
			return nil, fmt.Errorf("no functions of package %s under %q: give -goroot a Go installation with its sources", pkg, goroot)
		}
	}
	return all, nil
}

// wordsOf is the words of a function's identifiers: readFull and HTTPServer are read, full, http and server.
func wordsOf(fn *ast.FuncDecl) []string {
	var words []string
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			words = append(words, split(id.Name)...)
		}
		return true
	})
	return words
}

// split cuts a name where a small letter meets a capital, before the last of several capitals, and at what is no
// letter; words of one letter are dropped.
func split(name string) []string {
	var words []string
	letters := []rune(name)
	begin := 0
	cut := func(end int) {
		if end-begin > 1 {
			words = append(words, strings.ToLower(string(letters[begin:end])))
		}
		begin = end
	}
	for i, c := range letters {
		switch {
		case !unicode.IsLetter(c):
			cut(i)
			begin = i + 1
		case i == 0 || !unicode.IsUpper(c):
		case unicode.IsLower(letters[i-1]), i+1 < len(letters) && unicode.IsLower(letters[i+1]):
			cut(i)
		}
	}
	cut(len(letters))
	return words
}

// prepare shuffles the examples, keeps a fifth for testing, and gives words their tokens: those that training
// has at least twice, the frequent first.
func prepare(all []example, length int, r *rand.Rand) (train, test []example, vocabulary int) {
	r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	test, train = all[:len(all)/5], all[len(all)/5:]
	count := map[string]int{}
	for _, e := range train {
		for _, w := range e.words {
			count[w]++
		}
	}
	var words []string
	for w, n := range count {
		if n > 1 {
			words = append(words, w)
		}
	}
	slices.SortFunc(words, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	ids := map[string]int32{}
	for i, w := range words {
		ids[w] = int32(i + 2)
	}
	for i := range all {
		all[i].tokens = make([]int32, length)
		for k, w := range all[i].words[:min(length, len(all[i].words))] {
			all[i].tokens[k] = unknown
			if id, known := ids[w]; known {
				all[i].tokens[k] = id
			}
		}
	}
	return train, test, len(words) + 2
}
