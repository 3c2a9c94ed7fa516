package org.opendedup.sar.sdfs.cli.daemon;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.objects.lease.LeaseStatus;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.JobControl;

/**
 * Commands that show or change what another machine may have changed, as requests of programs do: they fail as long as
 * the lease is not valid. They do not wait for it, because whoever sent them can send them again.
 */
final class LeasedCommands {
    private static final Set<String> HARMLESS = Set.of(JobControl.STATUS, JobControl.STOP);

    private LeasedCommands() {}

    /**
     * As {@link #of(Map, Supplier)}, for jobs and settings: these show and stop jobs of this process whatever the lease
     * is.
     */
    static Map<String, Handler> changing(Map<String, Handler> handlers, Supplier<@Nullable LeaseStatus> lease) {
        return handlers.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, command -> changing(command.getValue(), lease)));
    }

    private static Handler changing(Handler handler, Supplier<@Nullable LeaseStatus> lease) {
        Handler leased = of(handler, lease);
        return (arguments, caller) -> {
            boolean isHarmless = arguments.get("action") instanceof String action && HARMLESS.contains(action);
            return (isHarmless ? handler : leased).answer(arguments, caller);
        };
    }

    /** @param lease returns the lease as it is now; null if the volume is on this machine only */
    static Map<String, Handler> of(Map<String, Handler> handlers, Supplier<@Nullable LeaseStatus> lease) {
        return handlers.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, command -> of(command.getValue(), lease)));
    }

    static Handler of(Handler handler, Supplier<@Nullable LeaseStatus> lease) {
        return (arguments, caller) -> {
            LeaseStatus now = lease.get();
            if (now != null && !now.state().equals(LeaseStatus.VALID)) {
                throw new IOException(
                        "another machine may use the volume now, and nothing was done; lease: " + now.text());
            }
            return handler.answer(arguments, caller);
        };
    }
}
