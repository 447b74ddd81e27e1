// Writes what Go's type checker knows of a module: each use of a name with its definition, one a line, as
// "path:line", name, path, line, separated by tabs. Only uses and definitions inside the module are
// written.
package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typecheck FOLDER (the folder of a Go module)")
		os.Exit(2)
	}
	folder := os.Args[1]
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: folder, Tests: true}, "./...")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, pkg := range loaded {
		for use, definition := range pkg.TypesInfo.Uses {
			from, to := pkg.Fset.Position(use.Pos()), pkg.Fset.Position(definition.Pos())
			site, err := filepath.Rel(folder, from.Filename)
			if err != nil {
				continue
			}
			target, err := filepath.Rel(folder, to.Filename)
			if err != nil {
				continue
			}
			fmt.Fprintf(out, "%s:%d\t%s\t%s\t%d\n", site, from.Line, use.Name, target, to.Line)
		}
	}
}
