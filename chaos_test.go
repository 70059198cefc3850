package thunder_test

// chaosRole is written below.
func chaosRole() int { return 2 }
