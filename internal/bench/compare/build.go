package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"thundercollective/internal/bench/trial"
)

// A version is one of the two programs.
type version struct {
	name    string // how the report names it
	program string // path of the executable
}

// build builds the thunder program of a commit, or of the working tree if commit is
// empty, as dir/role/thunder. The source of a commit is unpacked under dir. A commit that
// is the path of a file, such as bin/thunder, is a program that was built before.
func build(ctx context.Context, dir, role, commit string) (version, error) {
	if strings.ContainsRune(commit, os.PathSeparator) {
		if info, err := os.Stat(commit); err == nil && info.Mode().IsRegular() {
			return version{name: commit, program: commit}, nil
		}
	}
	out := filepath.Join(dir, role)
	if err := os.Mkdir(out, 0o755); err != nil {
		return version{}, err
	}
	v := version{name: "the working tree", program: filepath.Join(out, "thunder")}
	source := "."
	if commit != "" {
		hash, err := git(ctx, "rev-parse", "--verify", "--short", commit+"^{commit}")
		if err != nil {
			return version{}, fmt.Errorf("%s: %w", role, err)
		}
		v.name = commit
		if !strings.HasPrefix(hash, commit) && !strings.HasPrefix(commit, hash) {
			v.name = commit + " (" + hash + ")"
		}
		source = filepath.Join(dir, role+"-source")
		if err := unpack(ctx, hash, source); err != nil {
			return version{}, fmt.Errorf("%s: %w", v.name, err)
		}
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", v.program, "./cmd/thunder")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if _, err := trial.Output(cmd); err != nil {
		return version{}, fmt.Errorf("build %s: %w", v.name, err)
	}
	return v, nil
}

// unpack writes the files of a commit into a new directory.
func unpack(ctx context.Context, commit, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	archive := dir + ".tar"
	if _, err := git(ctx, "archive", "--format=tar", "-o", archive, commit); err != nil {
		return err
	}
	_, err := trial.Output(exec.CommandContext(ctx, "tar", "-xf", archive, "-C", dir))
	return err
}

// git runs git at the top of the repository and returns the line it prints.
func git(ctx context.Context, args ...string) (string, error) {
	out, err := trial.Output(exec.CommandContext(ctx, "git", args...))
	return strings.TrimSpace(string(out)), err
}
