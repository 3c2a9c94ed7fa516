package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Optional;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.CommandRunner;
import org.opendedup.sar.sdfs.cli.command.Environment;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;
import org.opendedup.sar.sdfs.cli.daemon.DaemonStart;
import org.opendedup.sar.sdfs.cli.daemon.FuseMountService;
import org.opendedup.sar.sdfs.cli.daemon.MountService;
import org.opendedup.sar.sdfs.cli.mounts.MountAccess;
import org.opendedup.sar.sdfs.cli.report.Json;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code mount.sdfs}: starts a volume's daemon and returns when the mount answers. */
@Command(
        description = {
            "Mounts a volume that mkfs.sdfs made: by its name, or by the address of the object store in which it lies.",
            "Returns when the mount answers. A daemon serves the volume until it is unmounted."
        },
        footer = {
            "Unmount with: umount MOUNTPOINT (as a user: fusermount3 -u MOUNTPOINT), or sdfscli VOLUME unmount.",
            "mount -t sdfs VOLUME MOUNTPOINT and fstab work where root installed the program.",
            "",
            "Environment: SDFS_CONFIG_DIR  folder of the volume files (default /etc/sdfs)",
            "             SDFS_RUN_DIR     folder of the control socket (default BASE/run)",
            "             SDFS_JAVA_OPTS   more options for the daemon's JVM",
            "             SDFS_PASSPHRASE  passphrase of an encrypted volume",
            "Log:         BASE/log/VOLUME.log",
            "Exit codes:  0 mounted, 1 failed, 2 no good key header, 5 no such volume, 7 wrong passphrase,",
            "             64 wrong usage"
        })
public final class MountCommand extends MountProgram {
    @Option(names = "-f", description = "Stay in the foreground and log to the error stream.")
    boolean foreground;

    @Option(names = "--json", description = "Print the result as JSON.")
    boolean json;

    /** @param daemonClass class whose {@code main} is the daemon */
    public MountCommand(
            Environment environment, MountService service, Class<?> daemonClass, DaemonStart.Launcher launcher) {
        super(environment, service, daemonClass, launcher);
    }

    public static void main(String[] arguments) {
        Environment environment = Environment.ofProcess();
        var command = new MountCommand(environment, new FuseMountService(), DaemonProgram.class, DaemonProcess::start);
        System.exit(CommandRunner.run(command, environment, arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException, CommandFailedException {
        DaemonStart start = prepared();
        if (foreground) {
            return start.inForeground();
        }
        report(start.definition(), start.inBackground());
        return ExitCode.OK;
    }

    private void report(VolumeDefinition definition, DaemonStart.Daemon daemon) throws IOException {
        Optional<MountAccess> access = MountAccess.at(arguments.absoluteMountPoint());
        if (json) {
            var result = new LinkedHashMap<String, Object>();
            result.put("name", arguments.volume);
            result.put("mountPoint", arguments.absoluteMountPoint().toString());
            result.put("pid", daemon.pid());
            result.put("memoryBudgetBytes", definition.config().memoryBudgetBytes());
            access.ifPresent(found -> result.putAll(found.report()));
            environment.out().println(Json.pretty(result));
        } else {
            environment
                    .out()
                    .println("Mounted " + arguments.volume + " on " + arguments.absoluteMountPoint() + ", process "
                            + daemon.pid() + ".");
            access.ifPresent(found -> environment.out().println(found.text()));
        }
    }
}
