module github.com/adjoint-go/adjoint

go 1.26
