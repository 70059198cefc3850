package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"thundercollective/internal/env"
	"thundercollective/internal/launch"
	"thundercollective/internal/launch/agent"
	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/native"
	"thundercollective/internal/launch/output"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/rendezvous"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// newLaunchCmd returns the verb that runs a program as the ranks of a job.
func newLaunchCmd() *cobra.Command {
	f := &launchFlags{}
	cmd := &cobra.Command{
		Use:   "launch [flags] [--] PROGRAM [ARGUMENTS]",
		Short: "Run any program on N local ranks, or on hosts over ssh",
		Long: `launch starts a program as the ranks of a job, here or on other machines, shows
their output, and ends all of them when one fails.

It reaches other machines through the system's ssh, so your configuration, keys and
jump hosts apply. They need the same version of thunder, and nothing else. A program
whose name ends in .py is run by Python.

Ranks find each other through their environment. launch sets the variables of this
library, of torchrun (RANK, WORLD_SIZE, MASTER_ADDR, ...), of MLX (MLX_RANK,
MLX_HOSTFILE, ...) and the rank numbers of Open MPI. If cables do not connect all
machines, the edges of the hostfile, or --edges, are passed to the ranks as
THUNDER_EDGES, and the ranks first connect over the addresses that ssh uses.

The exit code is that of the first rank that failed (128 plus the signal number if a
signal ended it); 127 if the program is not found, 126 if it cannot be run, 124 after
--timeout, 130 after Ctrl-C, 1 if a machine cannot be reached or was lost, 2 if the
command line or the hostfile is invalid. Ctrl-C ends the job gracefully, a second one
immediately.

With --copy, the ranks run in a new directory, which is removed at the end. What is
below the current directory has the same path in it: after --copy src/x.py the program
is src/x.py, not x.py. What is elsewhere has the last part of its path as its name.

With --restarts, ranks that died are started again. If the program re-forms its job
(Comm.Reform), the other ranks keep running: they ask for the next generation, and
only the ranks that died are restarted in it. Otherwise all ranks are restarted.`,
		Example: `  # four ranks on this machine
  thunder launch -n 4 -- thunder bench allreduce

  # one rank on a, two on b, over ssh
  thunder launch --hosts a,b:2 -- ./train --steps 1000

  # a Python script, copied to the hosts first
  thunder launch --hostfile hosts.json --copy . train.py`,
		Args: cobra.ArbitraryArgs,
		RunE: working(f.run),
	}
	f.add(cmd)
	return cmd
}

// newLaunchAgentCmd returns the verb that launch starts on every machine. It is not for
// users.
func newLaunchAgentCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "launch-agent",
		Short:  "Run the ranks of one machine, as instructed on stdin",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error {
			return agent.Main(context.WithoutCancel(cmd.Context()), agent.Config{Version: release()})
		}),
	}
}

// launchFlags are the flags of launch.
type launchFlags struct {
	ranks       int
	hosts       string
	hostfile    string
	edges       string
	env         []string
	cwd         string
	python      string
	copies      []string
	logDir      string
	timeout     time.Duration
	dryRun      bool
	quiet       string
	tag         string
	stdin       string
	restarts    int
	restartMode string
	reformWait  time.Duration
	printConfig string
	port        int
	ssh         string
	thunder     string
	grace       time.Duration
	heartbeat   time.Duration
}

func (f *launchFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.SetInterspersed(false) // flags after the program belong to the program
	fs.IntVarP(&f.ranks, "ranks", "n", 0, "`NUMBER` of ranks: on this machine, or in the first slots of the hosts (default: 1, or all slots)")
	fs.StringVar(&f.hosts, "hosts", "", "`HOSTS` to run on, by their ssh names, with the number of ranks: a,b:2,me@c")
	fs.StringVar(&f.hostfile, "hostfile", "", "JSON `FILE` with the hosts to run on")
	fs.StringVar(&f.edges, "edges", "", "`CABLES` between ranks or hosts, if not all are connected: 0-1,b-c@10 with rates in Gb/s; a/0-1.3=b/0-3.1 is a USB4STREAM cable (default: the hostfile's) (THUNDER_EDGES)")
	fs.StringArrayVar(&f.env, "env", nil, "set a variable for every rank, `NAME=value`, or pass on the local one, NAME (repeatable)")
	fs.StringVar(&f.cwd, "cwd", "", "`DIRECTORY` to run in on every machine (default: the current one if it exists there, else the home directory)")
	fs.StringVar(&f.python, "python", "", "Python `INTERPRETER` for scripts (default: python3)")
	fs.StringArrayVar(&f.copies, "copy", nil, "copy a file or directory, `PATH`, to a new directory on every machine and run there; src/x.py is src/x.py there (repeatable)")
	fs.StringVar(&f.logDir, "log-dir", "", "also write each rank's output to a file in `DIRECTORY`")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the job after this time (default: never)")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print what would run on which machine, and run nothing")
	fs.StringVar(&f.quiet, "quiet-ranks", "", "`RANKS` whose output is not shown: 1-3,5; without a value, all but rank 0")
	fs.Lookup("quiet-ranks").NoOptDefVal = "1-"
	fs.StringVar(&f.tag, "tag", "on", "on: put rank@host before every line; off: show lines unchanged")
	fs.StringVar(&f.stdin, "stdin", "0", "which ranks read standard input: 0, all, or none")
	fs.IntVar(&f.restarts, "restarts", 0, "`NUMBER` of times to restart ranks after a failure")
	fs.StringVar(&f.restartMode, "restart-mode", "rank", "which ranks to restart; rank: those that died, if the others re-form the job, else all; all: always all")
	fs.DurationVar(&f.reformWait, "reform-wait", launch.DefaultReformWait, "how long the other ranks may take to start re-forming the job before all ranks are restarted")
	fs.StringVar(&f.printConfig, "print-config", "", "instead of running, print the configuration of other software for these hosts: "+strings.Join(native.Formats(), " "))
	fs.IntVar(&f.port, "port", 0, "first of the ports that a job uses on each machine (default: any free ports)")
	fs.StringVar(&f.ssh, "ssh", "ssh", "ssh `COMMAND`, with options if necessary")
	fs.StringVar(&f.thunder, "thunder", "", "`PATH` of thunder on other machines (default: the same as here, or in the search path)")
	fs.DurationVar(&f.grace, "grace", 0, "time between SIGTERM and SIGKILL when a job is ended (default 2.5s)")
	fs.DurationVar(&f.heartbeat, "heartbeat-timeout", launch.DefaultSilence, "how long another machine keeps running without a heartbeat from the launcher; for ranks, see THUNDER_HEARTBEAT_TIMEOUT")
	renamed(cmd, "silence", "heartbeat-timeout")
	cmd.RegisterFlagCompletionFunc("print-config", cobra.FixedCompletions(native.Formats(), cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("restart-mode", cobra.FixedCompletions([]string{"rank", "all"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("tag", cobra.FixedCompletions([]string{"on", "off"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RegisterFlagCompletionFunc("stdin", cobra.FixedCompletions([]string{"0", "all", "none"}, cobra.ShellCompDirectiveNoFileComp))
}

func (f *launchFlags) run(cmd *cobra.Command, args []string) error {
	cfg, err := f.config(cmd, args)
	if err != nil {
		return &usageError{err}
	}
	if f.printConfig != "" {
		if !slices.Contains(native.Formats(), f.printConfig) {
			return usagef("--print-config: unknown format %q; want one of %s", f.printConfig, strings.Join(native.Formats(), " "))
		}
		text, err := launch.NativeConfig(cmd.Context(), *cfg, f.printConfig)
		fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	}
	if err := cfg.Validate(); err != nil {
		return &usageError{err}
	}
	if f.dryRun {
		return launch.DryRun(cmd.OutOrStdout(), *cfg)
	}
	// launch handles signals itself: the first ends the job, the second kills it, and
	// Ctrl-Z must not stop the launcher while its ranks keep running.
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(interrupts)
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTSTP)
	defer signal.Stop(stopped)
	cfg.Interrupts = interrupts
	err = launch.Run(context.WithoutCancel(cmd.Context()), *cfg)
	if err != nil {
		return &failure{launch.ExitCode(err), nil}
	}
	return nil
}

// config converts the flags to a launch configuration.
func (f *launchFlags) config(cmd *cobra.Command, args []string) (*launch.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the path of this program, to start its agents: %w", err)
	}
	cfg := &launch.Config{
		Argv: args, Python: f.python, Dir: f.cwd, Copy: f.copies, Port: f.port,
		Restarts: f.restarts, RestartAll: f.restartMode == "all", ReformWait: f.reformWait, Timeout: f.timeout, Grace: f.grace, Silence: f.heartbeat, Version: release(),
		Agents: remote.Config{Agent: []string{self, "launch-agent"}, SSH: strings.Fields(f.ssh), Thunder: f.thunder},
	}
	if err := f.check(cmd.Flags()); err != nil {
		return nil, err
	}
	if f.restartMode != "rank" && f.restartMode != "all" {
		return nil, fmt.Errorf("--restart-mode: unknown mode %q; want rank or all", f.restartMode)
	}
	if err := f.where(cfg); err != nil {
		return nil, err
	}
	for _, kv := range f.env {
		if !strings.Contains(kv, "=") {
			kv += "=" + os.Getenv(kv)
		}
		cfg.Env = append(cfg.Env, kv)
	}
	if _, err := env.Names(cfg.Env); err != nil {
		return nil, fmt.Errorf("--env: %w", err)
	}
	if err := f.terminal(cmd, cfg); err != nil {
		return nil, err
	}
	size := hosts.Place(cfg.Hosts).Size()
	cfg.Output.Quiet, err = parseRanks(f.quiet, size)
	if err != nil {
		return nil, fmt.Errorf("--quiet-ranks: %w", err)
	}
	return cfg, nil
}

// check returns a usage error for flags whose value would count as none: a script with an
// empty variable must not run here what was meant for other machines.
func (f *launchFlags) check(fs *pflag.FlagSet) error {
	if err := notEmpty(fs, "hosts", "hostfile"); err != nil {
		return err
	}
	if fs.Changed("ranks") && f.ranks < 1 {
		return fmt.Errorf("-n: %d ranks; want 1 or more", f.ranks)
	}
	for name, d := range map[string]time.Duration{"timeout": f.timeout, "grace": f.grace, "heartbeat-timeout": f.heartbeat, "reform-wait": f.reformWait} {
		if d < 0 {
			return fmt.Errorf("--%s: %v is negative; want a duration such as 90s or 5m", name, d)
		}
	}
	return nil
}

// where sets the hosts.
func (f *launchFlags) where(cfg *launch.Config) error {
	var err error
	var edges []rendezvous.EdgeSpec
	if text := cmp.Or(f.edges, (&env.Reader{}).Text(env.Edges)); text != "" {
		if edges, err = rendezvous.ParseEdges(text); err != nil {
			return err
		}
	}
	switch {
	case f.hosts != "" && f.hostfile != "":
		return errors.New("--hosts and --hostfile both name the hosts; use one or the other")
	case f.hosts != "":
		if cfg.Hosts, err = hosts.ParseList(f.hosts); err != nil {
			return fmt.Errorf("--hosts: %w", err)
		}
	case f.hostfile != "":
		file, err := rendezvous.ReadHostfile(f.hostfile)
		if err != nil {
			return err
		}
		if cfg.Hosts, err = hosts.FromHostfile(file); err != nil {
			return err
		}
		if edges == nil {
			edges = file.EdgeSpecs()
		}
		cfg.Env = slices.Clone(file.Envs)
		if file.Backend != "" {
			cfg.Env = append(cfg.Env, "MLX_DISTRIBUTED_BACKEND="+file.Backend)
		}
		if cfg.Port == 0 {
			cfg.Port = file.Port
		}
	default:
		if f.ranks < 0 || f.ranks > hosts.MaxSlots {
			return fmt.Errorf("-n: %d ranks; want 1 to %d", f.ranks, hosts.MaxSlots)
		}
		cfg.Hosts = []hosts.Host{{Name: "localhost", Slots: max(f.ranks, 1)}}
	}
	all := cfg.Hosts
	if f.ranks != 0 {
		if cfg.Hosts, err = hosts.First(all, f.ranks); err != nil {
			return fmt.Errorf("-n: %w", err)
		}
	}
	cfg.Edges, err = hosts.Edges(edges, all, hosts.Place(cfg.Hosts))
	return err
}

// terminal sets where input comes from and where output goes.
func (f *launchFlags) terminal(cmd *cobra.Command, cfg *launch.Config) error {
	cfg.Output = output.Config{
		Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr(), LogDir: f.logDir,
		Color: colourful(cmd.OutOrStdout()), Live: colourful(cmd.ErrOrStderr()),
	}
	switch f.tag {
	case "on":
		cfg.Output.Tag = true
	case "off":
	default:
		return fmt.Errorf("--tag: unknown value %q; want on or off", f.tag)
	}
	if out := fileOf(cmd.OutOrStdout()); out != nil && isTerminal(out) {
		if w, h, err := term.GetSize(int(out.Fd())); err == nil {
			cfg.Output.Columns, cfg.Lines = w, h
		}
	}
	switch f.stdin {
	case "0", "all":
		cfg.StdinAll = f.stdin == "all"
		if mayRead(os.Stdin) {
			cfg.Stdin = cmd.InOrStdin()
		}
	case "none":
	default:
		return fmt.Errorf("--stdin: unknown value %q; want 0, all or none", f.stdin)
	}
	return nil
}

// mayRead reports whether this process can read f without being stopped, as it would be if
// f is a terminal and the process is in the background.
func mayRead(f *os.File) bool {
	if !isTerminal(f) {
		return true
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// parseRanks reads a list such as "0,2-4,6-" of ranks below size.
func parseRanks(s string, size int) ([]int, error) {
	var list []int
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && to == "" {
			last = size - 1
		} else if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last < first && to != "" {
			return nil, fmt.Errorf("%q is not a list of ranks such as 1-3,5", s)
		}
		for r := first; r <= min(last, size-1); r++ {
			list = append(list, r)
		}
	}
	return list, nil
}
