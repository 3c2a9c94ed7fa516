package org.opendedup.sar.sdfs.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.opendedup.sar.common.CorruptionException;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.objects.lease.LeaseObject;
import org.opendedup.sar.objects.lease.LeaseRecord;
import org.opendedup.sar.objects.lease.LeaseTerms;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.config.StoreAddress;
import org.opendedup.sar.sdfs.config.StoredVolumeFile;
import org.opendedup.sar.volume.config.RemoteSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code sdfscli VOLUME lease}: which machine uses a volume in an object store. Needs no daemon and no key. */
@Command(
        name = "lease",
        description = {
            "Shows which machine uses a volume in an object store.",
            "It also names the process, since when, and when it renewed its lease. VOLUME is its name on this",
            "machine, or the address of its store.",
            "",
            "A machine that is gone needs no command: another one that mounts the volume waits 10 s and takes over."
        },
        footer = {
            "Exit codes:  0 shown   1 failed   5 no such volume   64 wrong usage",
            "",
            "Examples:",
            "  sdfscli pool0 lease",
            "  sdfscli s3://bucket/pool0 lease --json"
        })
final class LeaseCommand extends VolumeCommand {
    private static final String YES = "yes";

    @Override
    public Integer call() throws IOException, CommandFailedException {
        Optional<LeaseRecord> lease = current();
        Map<String, Object> report = lease.map(this::report).orElseGet(() -> {
            Map<String, Object> none = new LinkedHashMap<>();
            none.put("state", "none");
            return none;
        });
        print(report, lease.map(LeaseCommand::text).orElse("No machine has used the volume yet."));
        return ExitCode.OK;
    }

    @Command(
            name = "break",
            description = {
                "Takes the lease away from a machine that cannot be reached.",
                "A machine that still renews it finds that out within 3 s and ends its mount; one that is cut",
                "off from the store serves nothing any more after 9 s. Until then it may show programs an old",
                "state. It can change nothing from the moment on at which another machine has opened the",
                "volume; what it had not put into the store by then is lost."
            },
            footer = {"Example:", "  sdfscli s3://bucket/pool0 lease break"})
    int breakNow(@Option(names = "--yes", description = "Break it without a question.") boolean yes)
            throws IOException, CommandFailedException {
        Optional<LeaseRecord> held = held();
        if (held.isPresent() && !yes) {
            cli().environment().err().print(text(held.get()) + "\nType 'yes' to take the lease away from it: ");
            cli().environment().err().flush();
            String typed = new BufferedReader(cli().environment().in()).readLine();
            if (typed == null || !typed.strip().equals(YES)) {
                throw new CommandFailedException("not confirmed; the lease stays as it is");
            }
        }
        Optional<LeaseRecord> broken = Optional.empty();
        if (held.isPresent()) {
            UUID owner = held.get().owner();
            broken = use(lease -> lease.breakNow(owner));
            Optional<LeaseRecord> next = broken.isPresent() ? Optional.empty() : held();
            if (next.isPresent()) {
                throw new CommandFailedException("another process has the lease meanwhile, and keeps it: "
                        + Printable.line(next.get().ownerText()));
            }
        }
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("broken", broken.isPresent());
        broken.ifPresent(lease -> report.putAll(report(lease.in(LeaseRecord.State.BROKEN))));
        print(
                report,
                broken.map(lease -> "The lease of " + Printable.line(lease.ownerText()) + " is broken.")
                        .orElse("No machine has the lease."));
        return ExitCode.OK;
    }

    /** Returns the lease if somebody has it. */
    private Optional<LeaseRecord> held() throws IOException, CommandFailedException {
        return current().filter(lease -> lease.state() == LeaseRecord.State.HELD);
    }

    /**
     * Returns the lease as it is now; empty if nobody ever had it.
     *
     * @throws org.opendedup.sar.sdfs.config.NoSuchVolumeException if the store has no volume
     */
    private Optional<LeaseRecord> current() throws IOException, CommandFailedException {
        Optional<LeaseRecord> lease = use(LeaseObject::current);
        if (lease.isEmpty()) {
            try (StoredVolumeFile store = StoredVolumeFile.in(address())) {
                var unused = store.read();
            }
        }
        return lease;
    }

    @FunctionalInterface
    private interface Use<T> {
        T of(LeaseObject lease) throws IOException;
    }

    private <T> T use(Use<T> use) throws IOException, CommandFailedException {
        try {
            String address = address();
            try (ObjectStore store = ObjectStores.open(address)) {
                return use.of(new LeaseObject(address, store));
            }
        } catch (CorruptionException e) {
            throw new CommandFailedException(e.getMessage() + "; " + LeaseObject.REMEDY);
        } catch (IllegalArgumentException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
    }

    private String address() throws IOException, CommandFailedException {
        String named = cli().volume;
        if (named != null && ObjectStores.isAddress(named)) {
            return StoreAddress.checked(named);
        }
        RemoteSettings settings =
                cli().environment().configDirectory().read(cli().name()).store();
        if (settings == null) {
            throw new CommandFailedException(
                    "the volume '" + cli().name() + "' is in folders of this machine, which" + " need no lease");
        }
        return settings.store();
    }

    private Map<String, Object> report(LeaseRecord lease) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("state", lease.stateText());
        report.put("epoch", lease.epoch());
        report.put("owner", lease.owner().toString());
        report.put("machine", lease.machine());
        report.put("process", lease.process());
        report.put("since", lease.since().toString());
        report.put("renewed", lease.renewed().toString());
        report.put("renewals", lease.renewals());
        return report;
    }

    private static String text(LeaseRecord lease) {
        String owner = Printable.line(lease.ownerText());
        if (lease.state() == LeaseRecord.State.RELEASED) {
            return "No machine uses the volume. The last one was " + owner + ", since " + lease.since() + " (epoch "
                    + lease.epoch() + ").";
        } else if (lease.state() == LeaseRecord.State.BROKEN) {
            return "The lease of " + owner + " was broken, and no machine has used the volume since (epoch "
                    + lease.epoch() + ").";
        }
        Duration age = Duration.between(lease.renewed(), Instant.now());
        boolean isOld = age.compareTo(LeaseTerms.DEFAULT.term()) > 0;
        return "In use by " + owner + " since " + lease.since() + " (epoch " + lease.epoch() + ").\nRenewed "
                + age.toSeconds() + " s ago, if the clocks of both machines are right"
                + (isOld ? ": that process is gone or cut off, and a mount takes over after 10 s." : ".");
    }
}
