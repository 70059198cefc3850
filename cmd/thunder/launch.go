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

// newLaunchCmd runs any program as the ranks of a job.
func newLaunchCmd() *cobra.Command {
	f := &launchFlags{}
	cmd := &cobra.Command{
		Use:   "launch [flags] [--] PROGRAM [ARGUMENTS]",
		Short: "Run any program on N local ranks, or on hosts over ssh",
		Long: `launch starts a program as the ranks of a job, here or on other machines, shows
what they print, and ends all of them when one fails.

Other machines are reached with the system's ssh, so that your configuration,
keys and jump hosts apply; they need thunder, in the same version, and nothing
else. A program that ends in .py is run by Python.

Ranks find each other through their environment: programs that use this library,
torchrun's (RANK, WORLD_SIZE, MASTER_ADDR, ...), MLX's (MLX_RANK, MLX_HOSTFILE,
...) and Open MPI's way of counting ranks are all served. Where not all machines
are joined by cables, the hostfile's edges, or --edges, go to the ranks as
THUNDER_EDGES; the machines then meet where ssh reaches them.

The exit code is that of the first rank that failed (128 and the signal's number
if a signal ended it); 127 if the program is not found, 126 if it cannot be run,
124 after --timeout, 130 after Ctrl-C, 1 if a machine cannot be reached or was
lost, 2 if the command line or the hostfile is not right. Ctrl-C ends the job
gracefully, a second one at once.

With --restarts, ranks that died are started again. A program that re-forms its
job (Comm.Reform) keeps its other ranks: they ask for the next generation, and only
those that died start anew in it. Of any other program all ranks start anew.`,
		Example: `  # four ranks on this machine
  thunder launch -n 4 -- thunder bench allreduce

  # one rank on a, two on b, over ssh
  thunder launch --hosts a,b:2 -- ./train --steps 1000

  # a Python script, sent to the hosts first
  thunder launch --hostfile hosts.json --copy . train.py`,
		Args: cobra.ArbitraryArgs,
		RunE: working(f.run),
	}
	f.add(cmd)
	return cmd
}

// newLaunchAgentCmd is what launch starts on every machine. It is not for users.
func newLaunchAgentCmd() *cobra.Command {
	return &cobra.Command{
		Use:    "launch-agent",
		Short:  "Run the ranks of one machine, as told on stdin",
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
	fs.SetInterspersed(false) // what follows the program is the program's
	fs.IntVarP(&f.ranks, "ranks", "n", 0, "`NUMBER` of ranks: on this machine, or the first so many slots of the hosts (default: 1, or all slots)")
	fs.StringVar(&f.hosts, "hosts", "", "`HOSTS` to run on, as ssh knows them, with their number of ranks: a,b:2,me@c")
	fs.StringVar(&f.hostfile, "hostfile", "", "JSON `FILE` with the hosts to run on")
	fs.StringVar(&f.edges, "edges", "", "`CABLES` between ranks or hosts, if not all are joined: 0-1,b-c@10 with rates in Gb/s; a/0-1.3=b/0-3.1 is a USB4STREAM cable (default: the hostfile's) (THUNDER_EDGES)")
	fs.StringArrayVar(&f.env, "env", nil, "set a variable for every rank, `NAME=value`, or pass on ours, NAME (repeatable)")
	fs.StringVar(&f.cwd, "cwd", "", "`FOLDER` to run in on every machine (default: this one where it exists, else the home folder)")
	fs.StringVar(&f.python, "python", "", "Python `INTERPRETER` for scripts (default: python3)")
	fs.StringArrayVar(&f.copies, "copy", nil, "send a file or folder, `PATH`, to a fresh folder on every machine and run there (repeatable)")
	fs.StringVar(&f.logDir, "log-dir", "", "also write each rank's output to a file in `FOLDER`")
	fs.DurationVar(&f.timeout, "timeout", 0, "end the job after this long (default: never)")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print what would run where, and run nothing")
	fs.StringVar(&f.quiet, "quiet-ranks", "", "`RANKS` whose output is not shown: 1-3,5; without a value all but rank 0")
	fs.Lookup("quiet-ranks").NoOptDefVal = "1-"
	fs.StringVar(&f.tag, "tag", "on", "on: rank@host in front of every line; off: lines as they are")
	fs.StringVar(&f.stdin, "stdin", "0", "who reads our input: rank 0, all, or none")
	fs.IntVar(&f.restarts, "restarts", 0, "`NUMBER` of times to start ranks again after a failure")
	fs.StringVar(&f.restartMode, "restart-mode", "rank", "rank: those that died, where the program of the others re-forms the job, else all; all: always all")
	fs.DurationVar(&f.reformWait, "reform-wait", launch.DefaultReformWait, "how long the others have to begin to re-form the job before all ranks are started again")
	fs.StringVar(&f.printConfig, "print-config", "", "print the configuration of other software for these hosts instead: "+strings.Join(native.Formats(), " "))
	fs.IntVar(&f.port, "port", 0, "first of the ports a job needs on each machine (default: any that are free)")
	fs.StringVar(&f.ssh, "ssh", "ssh", "the ssh `COMMAND`, with options if need be")
	fs.StringVar(&f.thunder, "thunder", "", "`PATH` of thunder on other machines (default: as here, or in the search path)")
	fs.DurationVar(&f.grace, "grace", 0, "time from SIGTERM to SIGKILL when a job is ended (default 2.5s)")
	fs.DurationVar(&f.heartbeat, "heartbeat-timeout", launch.DefaultSilence, "how long another machine runs on without a heartbeat of the launcher; for ranks, see THUNDER_HEARTBEAT_TIMEOUT")
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
			return usagef("--print-config: unknown %q, want one of %s", f.printConfig, strings.Join(native.Formats(), " "))
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
	// Signals are ours: the first ends the job, the second kills it, and Ctrl-Z
	// must not stop the launcher while its ranks run on.
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

// config puts together what to run from the flags.
func (f *launchFlags) config(cmd *cobra.Command, args []string) (*launch.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to start its agents: %w", err)
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
		return nil, fmt.Errorf("--restart-mode: %q is neither rank nor all", f.restartMode)
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

// check finds flags that were given a value which would count as none: a script whose
// variable is empty is not to run here what was meant for other machines.
func (f *launchFlags) check(fs *pflag.FlagSet) error {
	if err := notEmpty(fs, "hosts", "hostfile"); err != nil {
		return err
	}
	if fs.Changed("ranks") && f.ranks < 1 {
		return fmt.Errorf("-n: %d ranks; give 1 or more", f.ranks)
	}
	for name, d := range map[string]time.Duration{"timeout": f.timeout, "grace": f.grace, "heartbeat-timeout": f.heartbeat, "reform-wait": f.reformWait} {
		if d < 0 {
			return fmt.Errorf("--%s: %v is negative; give a duration such as 90s or 5m", name, d)
		}
	}
	return nil
}

// where fills in the hosts.
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
		return errors.New("--hosts and --hostfile both say where to run; give one of them")
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
			return fmt.Errorf("-n: %d ranks, want 1 to %d", f.ranks, hosts.MaxSlots)
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

// terminal fills in where input comes from and output goes.
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
		return fmt.Errorf("--tag: %q is neither on nor off", f.tag)
	}
	if out, ok := cmd.OutOrStdout().(*os.File); ok && isTerminal(out) {
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
		return fmt.Errorf("--stdin: %q is none of 0, all, none", f.stdin)
	}
	return nil
}

// mayRead reports whether reading f does not stop us, as reading a terminal
// would in the background.
func mayRead(f *os.File) bool {
	if !isTerminal(f) {
		return true
	}
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// parseRanks reads a list such as "0,2-4,6-" of size ranks.
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
			return nil, fmt.Errorf("%q is no list of ranks such as 1-3,5", s)
		}
		for r := first; r <= min(last, size-1); r++ {
			list = append(list, r)
		}
	}
	return list, nil
}
