module github.com/adjoint-go/adjoint/bench

go 1.26.0

require (
	github.com/adjoint-go/adjoint v0.0.0
	golang.org/x/sys v0.50.0
)

require (
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/schollz/progressbar/v3 v3.19.1 // indirect
	golang.org/x/term v0.48.0 // indirect
)

replace github.com/adjoint-go/adjoint => ../
