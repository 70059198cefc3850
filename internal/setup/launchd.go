package setup

import (
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
)

const launchdLabel = "org.thundercollective.setup"

// launchd returns the plan and a job that applies it at start-up, and also whenever the
// system rewrites its network settings, which puts ports back into the bridge. The job is
// not loaded now, because the plan has just been applied. If it is still loaded after
// Undo, it does nothing, because Undo removes the plan.
func (x *Persistence) launchd(p *Plan) (files []File, reload [][]string) {
	plan, _ := json.MarshalIndent(p, "", "  ") // strings and numbers only: cannot fail
	planPath := filepath.Join(x.StateDir, "plan.json")
	job := fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by thunder setup; removed by thunder setup (undo). -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
		<string>%s</string>
		<string>setup</string>
		<string>--plan</string>
		<string>%s</string>
		<string>--apply</string>
		<string>--persist</string>
		<string>none</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>WatchPaths</key>
	<array>
		<string>/Library/Preferences/SystemConfiguration/preferences.plist</string>
	</array>
	<key>ThrottleInterval</key>
	<integer>10</integer>
</dict>
</plist>
`, launchdLabel, html.EscapeString(x.Thunder), html.EscapeString(planPath))
	return []File{
		{planPath, 0o644, append(plan, '\n')},
		{filepath.Join(x.Root, "Library/LaunchDaemons", launchdLabel+".plist"), 0o644, []byte(job)},
	}, nil
}
