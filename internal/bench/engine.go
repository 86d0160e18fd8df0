package main

import "context"

// measureEngine measures the engine, the floor and the peers with the same server.
func measureEngine(ctx context.Context, o options, f figures) error {
	one, many, err := compare(ctx, o, openByteLoop, openEngine, openGoSDK, openMcpGo)
	if err != nil {
		return err
	}
	// Where waking up a process is dear, what the byte loop reaches bounds the ratios to the peers: no client over pipes
	// can be faster.
	f.put("engine / byte loop, sequential", one.against(engineName, byteLoopName), "%v", one)
	f.put("engine / byte loop, 64 at once", many.against(engineName, byteLoopName), "%v", many)
	for _, peer := range []string{goSDKName, mcpGoName} {
		f.put("engine / "+peer+", sequential", one.against(engineName, peer), "")
		f.put("engine / "+peer+", 64 at once", many.against(engineName, peer), "")
	}
	return nil
}
