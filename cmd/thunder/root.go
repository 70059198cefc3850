package main

import "github.com/spf13/cobra"

// newRootCmd returns the root command. Each verb has a file of its own and is added here.
func newRootCmd() *cobra.Command {
	first := &rootFlags{}
	root := &cobra.Command{
		Use:   "thunder",
		Short: "Connect the machines on a desk into one fabric",
		Long: `thunder connects the machines on a desk into one fabric for distributed training
and inference: it measures the links between them, checks that every collective
operation gives correct results, and runs programs on the machines.

Start with 'thunder demo', which needs only this machine.

Without a verb, the flags below run one rank of a benchmark. Start one thunder for
each rank, with the same addresses in the same order.`,
		Example: `  # the two-minute tour
  thunder demo

  # sweep an all-reduce over 4 local ranks
  thunder bench allreduce -n 4

  # two ranks, in two terminals or on two machines
  thunder --rank 0 --world-size 2 --addr 127.0.0.1:5000 --addr 127.0.0.1:5001 --mode ping-pong --num-streams 4 --json
  thunder --rank 1 --world-size 2 --addr 127.0.0.1:5000 --addr 127.0.0.1:5001 --mode ping-pong --num-streams 4 --json`,
		Args:          noVerb,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: working(func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().NFlag() == 0 {
				return cmd.Help()
			}
			return first.run(cmd)
		}),
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCmd())
	first.add(root)
	root.AddCommand(
		newDemoCmd(),
		newBenchCmd(),
		newTuneCmd(),
		newLaunchCmd(),
		newLaunchAgentCmd(),
		newTopoCmd(),
		newInspectCmd(),
		newDoctorCmd(),
		newSetupCmd(),
		newSupportBundleCmd(),
		newEnvCmd(),
	)
	completeShells(root)
	return root
}

// noVerb returns an error for arguments that are not verbs.
func noVerb(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownVerb(root, args[0])
}
