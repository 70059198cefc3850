package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	thunder "thundercollective"
)

// version describes this binary: the version of the module, the commit if known, the tool
// chain and platform, and the reduction kernels for this processor.
func version() string { return describe(buildInfo(), thunder.Kernels()) }

// stamp is the version set by the build with -ldflags '-X main.stamp=...'. If it is empty,
// the version that Go recorded for the module is used.
var stamp string

// release identifies the source this binary was built from, independent of the machine. The
// machines of a job compare it.
func release() string { return source(buildInfo()) }

func buildInfo() *debug.BuildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return info
}

func describe(info *debug.BuildInfo, kernels string) string {
	return fmt.Sprintf("%s %s %s/%s kernels %s", source(info), runtime.Version(), runtime.GOOS, runtime.GOARCH, kernels)
}

func source(info *debug.BuildInfo) string {
	name := info.Main.Version
	if name == "" || name == "(devel)" {
		name = "devel"
	}
	if stamp != "" {
		name = stamp
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
	return name
}
