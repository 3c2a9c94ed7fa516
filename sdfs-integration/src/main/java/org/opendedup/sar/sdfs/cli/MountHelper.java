package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.objects.ObjectStores;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.cli.control.ControlSocket;
import org.opendedup.sar.sdfs.cli.control.VolumeCommands;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.daemon.DaemonStart;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.MountService;
import org.opendedup.sar.sdfs.cli.daemon.VolumeDaemon;
import org.opendedup.sar.sdfs.cli.mounts.DeadMount;
import org.opendedup.sar.sdfs.cli.mounts.MountAccess;
import org.opendedup.sar.sdfs.cli.mounts.MountHelperOptions;
import org.opendedup.sar.sdfs.cli.report.FailureText;
import org.opendedup.sar.volume.config.RemoteSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code /sbin/mount.sdfs} as mount(8) calls it: {@code mount.sdfs source target [-sfnv] [-N namespace] [-o options]
 * [-t type]}, for {@code mount -t sdfs}, for lines of fstab, and for {@code mount -o remount}. See mount(8), "EXTERNAL
 * HELPERS". Separate from {@link MountCommand} because -f has another meaning, success prints nothing, and exit codes
 * are those of mount(8).
 */
@Command(
        description = "Run by mount(8): mount -t sdfs VOLUME MOUNTPOINT [-o OPTIONS], mount MOUNTPOINT, mount -a.",
        footer = {"Exit codes: 0 done, 1 wrong usage, 32 failed"})
public final class MountHelper extends MountProgram {
    /** mount(8): incorrect invocation or permissions. */
    static final int MOUNT_USAGE = 1;

    /** mount(8): mount failure. */
    static final int MOUNT_FAILURE = 32;

    @Option(names = "-s", description = "Leave out unknown mount options, with a warning.")
    boolean sloppy;

    @Option(names = "-f", description = "Check everything and mount nothing.")
    boolean fake;

    @Option(names = "-n", description = "No effect: no mtab is written.")
    boolean noMtab;

    @Option(names = "-v", description = "Print what was mounted.")
    boolean verbose;

    @Option(names = "-N", paramLabel = "NAMESPACE", description = "Refused: use nsenter --mount=NAMESPACE mount ...")
    @Nullable
    String namespace;

    @Option(names = "-t", paramLabel = "TYPE", description = "No effect: there is only one type.")
    String type = "";

    /** @param daemonClass class whose {@code main} is the daemon */
    MountHelper(Environment environment, MountService service, Class<?> daemonClass) {
        super(environment, service, daemonClass, DaemonProcess::start);
    }

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        System.exit(run(environment, new FuseMountService(), DaemonProgram.class, arguments));
    }

    /** Runs the helper; mount(8) exits with the code that this returns. */
    static int run(Environment environment, MountService service, Class<?> daemonClass, String... arguments) {
        int code = CommandRunner.run(new MountHelper(environment, service, daemonClass), environment, arguments);
        return switch (code) {
            case ExitCode.OK -> ExitCode.OK;
            case ExitCode.USAGE -> MOUNT_USAGE;
            default -> MOUNT_FAILURE;
        };
    }

    @Override
    public Integer call() throws IOException, InterruptedException, CommandFailedException {
        if (namespace != null) {
            // mount(8) opened it: this process names a descriptor of that one, which ends before anybody can use it.
            String file = namespace.matches("/proc/[0-9]+/fd/[0-9]+") ? "NAMESPACE" : namespace;
            throw new CommandFailedException("mount -N is not supported; use: nsenter --mount=" + file
                    + " mount -t sdfs " + arguments.volume + " " + arguments.mountPoint);
        }
        arguments.volume = volumeName(arguments.volume);
        var options = MountHelperOptions.of(String.join(",", arguments.options));
        if (sloppy) {
            options = options.known(this::isKnown);
        }
        arguments.options = new ArrayList<>(List.of(options.forFileSystem()));
        if (options.isRemount()) {
            remount();
        } else {
            mount();
        }
        return ExitCode.OK;
    }

    /** Returns the name. mount(8) makes a path of it if the current folder has a file with the volume's name. */
    private static String volumeName(String source) {
        Path name = source.startsWith("/") ? Path.of(source).getFileName() : null;
        return name == null ? source : name.toString();
    }

    private boolean isKnown(String option) {
        try {
            arguments.checkOption(option, service);
            return true;
        } catch (IllegalArgumentException e) {
            environment.err().println("mount.sdfs: " + e.getMessage() + "; it is left out");
            return false;
        }
    }

    private void mount() throws IOException, InterruptedException, CommandFailedException {
        if (ObjectStores.isAddress(arguments.volume) && mounted().isPresent()) {
            // The mount table has the name of the volume, so 'mount -a' does not know its line by the address.
            return;
        }
        DaemonStart start = prepared();
        if (fake) {
            return;
        }
        DaemonStart.Daemon daemon = start.inBackground();
        if (verbose) {
            environment
                    .out()
                    .println("mount.sdfs: " + arguments.volume + " mounted on " + arguments.absoluteMountPoint()
                            + " by process " + daemon.pid());
            MountAccess.at(arguments.absoluteMountPoint())
                    .ifPresent(access -> environment.out().println("mount.sdfs: " + access.text()));
        }
    }

    /**
     * Returns the mount of a volume whose object store has the address that is to be mounted; empty if there is none.
     */
    private Optional<MountTable.Entry> mounted() throws IOException {
        Optional<MountTable.Entry> mount =
                MountTable.read().top(arguments.absoluteMountPoint()).filter(DeadMount::isOurs);
        if (mount.isEmpty() || DeadMount.isDead(mount.get())) {
            return Optional.empty();
        }
        String name = mount.get().device();
        RemoteSettings store = Files.exists(environment.configDirectory().fileOf(name))
                ? environment.configDirectory().read(name).store()
                : null;
        return mount.filter(found -> store != null && store.store().equals(arguments.volume));
    }

    /** Returns where the daemon can be asked; empty if the volume file cannot be read, which is printed. */
    private Optional<RunFiles> runFiles() {
        try {
            return Optional.of(environment.runFiles(arguments.definition(environment)));
        } catch (IOException e) {
            environment
                    .err()
                    .println("mount.sdfs: " + FailureText.of(e) + "; if a disk failed, use sdfscli " + arguments.volume
                            + " resume");
            return Optional.empty();
        }
    }

    /** Makes the daemon accept changes again, in case a disk had failed: the kernel does not report a remount to it. */
    private void resume(RunFiles files) throws CommandFailedException {
        try {
            ControlSocket.ask(files.socket(), VolumeCommands.RESUME);
        } catch (IOException e) {
            throw new CommandFailedException(
                    "the volume '" + arguments.volume + "' stays read-only: " + FailureText.of(e));
        }
    }

    /** Refuses what only another mount can change. */
    private void requireChangeable(RunFiles files, boolean writable) throws IOException, CommandFailedException {
        Optional<Map<String, Object>> state = ControlSocket.ask(files.socket(), VolumeCommands.PING);
        if (state.isEmpty()) {
            return;
        }
        String present = String.valueOf(state.get().get(VolumeDaemon.OPTIONS));
        List<String> options = List.of(present.split(","));
        if (writable && options.lastIndexOf("ro") > options.lastIndexOf("rw")) {
            throw new CommandFailedException("the volume '" + arguments.volume
                    + "' was mounted read-only, and nothing of it changes until it is unmounted and mounted again");
        }
        Optional<String> fixed = arguments.fixedOptions(present).findFirst();
        if (fixed.isPresent()) {
            throw new CommandFailedException(
                    "a remount does not change " + fixed.get() + ": unmount the volume, and mount it with that option");
        }
    }

    private void remount() throws IOException, CommandFailedException {
        String options = arguments.mountOptions(service);
        Path mountPoint = arguments.absoluteMountPoint();
        MountTable.Entry mount = MountTable.read()
                .top(mountPoint)
                .filter(DeadMount::isOurs)
                .orElseThrow(() -> new CommandFailedException("no volume is mounted on " + mountPoint));
        if (ObjectStores.isAddress(arguments.volume)) {
            arguments.volume = mounted()
                    .map(MountTable.Entry::device)
                    .orElseThrow(
                            () -> new CommandFailedException(arguments.volume + " is not mounted on " + mountPoint));
        }
        if (!fake) {
            boolean writable = !List.of(options.split(",")).contains("ro");
            Optional<RunFiles> files = runFiles();
            if (files.isPresent()) {
                requireChangeable(files.get(), writable);
                if (writable) {
                    resume(files.get());
                }
            }
            service.remount(mountPoint, MountAccess.of(mount).kept() + options);
        }
        if (verbose) {
            environment.out().println("mount.sdfs: " + mountPoint + " remounted with " + options);
        }
    }
}
