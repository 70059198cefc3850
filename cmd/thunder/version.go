package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"thundercollective/reduce"
)

// version describes this binary: the module's version, the commit it was built
// from where the build knows it, the tool chain and platform, and the reduction
// kernels this CPU gets.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describe(info, reduce.Active())
}

func describe(info *debug.BuildInfo, kernels string) string {
	name := info.Main.Version
	if name == "" || name == "(devel)" {
		name = "devel"
	}
	var commit, when, changed string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			when = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				changed = ", with changes"
			}
		}
	}
	if commit != "" {
		name += fmt.Sprintf(" (commit %s of %s%s)", commit, when, changed)
	}
	return fmt.Sprintf("%s %s %s/%s kernels %s", name, runtime.Version(), runtime.GOOS, runtime.GOARCH, kernels)
}
