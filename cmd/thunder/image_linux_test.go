package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The binary that the Dockerfile builds runs where there is nothing else: no C library, no
// shell, no /proc.
func TestImage(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("MISSING: only root changes the root directory")
	}
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	build := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build .*)$`).FindStringSubmatch(string(text))
	if build == nil {
		t.Fatal("the Dockerfile builds nothing")
	}
	root := t.TempDir()
	line := strings.ReplaceAll(build[1], " /out/", " "+root+"/")
	shell := exec.Command("sh", "-c", line)
	shell.Dir = "../.."
	shell.Env = append(os.Environ(), "TAGS=nordma", "VERSION=image-test")
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"--version":                       "thunder version image-test",
		"bench barrier -n 1 --fabric mem": "alone",
		"bench allreduce --fabric mem --max 64 --iters 1": "0 OK",
	} {
		out, err := exec.Command("chroot", append([]string{root, "/usr/local/bin/thunder"}, strings.Fields(args)...)...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("thunder %s: %v\n%s", args, err, out)
		}
	}
}

// The example for Kubernetes runs what the image has, and promises no second attempt.
func TestKubernetesJob(t *testing.T) {
	job, err := os.ReadFile("../../examples/kubernetes/job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"docker build -t thunder:latest .", "image: thunder:latest", `command: ["thunder", "bench", "allreduce"]`, "backoffLimit: 0"} {
		if !strings.Contains(string(job), want) {
			t.Errorf("%q is not in the job", want)
		}
	}
	if strings.Contains(string(job), "a new attempt would start all") {
		t.Error("the job promises a new attempt, but backoffLimit is 0")
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("MISSING: kubectl")
	}
	for _, file := range []string{"job.yaml", "statefulset.yaml"} {
		out, err := exec.Command(kubectl, "kustomize", "--help").CombinedOutput()
		if err != nil {
			t.Skipf("MISSING: kubectl kustomize: %s", out)
		}
		dir := t.TempDir()
		text, err := os.ReadFile("../../examples/kubernetes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("resources: ["+file+"]\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(kubectl, "kustomize", dir).CombinedOutput(); err != nil || strings.Count(string(out), "kind: ") != 2 {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
