package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.daemon.DaemonProcess;

/**
 * The commands as installed by {@code scripts/install}, in a separate prefix. The links in {@code /sbin}, by which
 * mount(8) finds them, exist only in a mount namespace of its own, in which the commands run: the machine does not
 * change. Mounts in its folder are the same in both namespaces.
 */
final class Installation implements AutoCloseable {
    static final List<Path> HELPER_LINKS = Stream.of("mount", "mount.fuse", "umount", "umount.fuse")
            .map(name -> Path.of("/sbin", name + ".sdfs"))
            .toList();
    /**
     * Begins a script in a mount namespace of its own: lets go of the mounts that other tests have at this moment, and
     * that would not end before the namespace does. Those under {@code $own} stay.
     */
    static final String LET_GO_OF_OTHERS = """
            findmnt -rno TARGET,PROPAGATION,FSTYPE,SOURCE | tac | while read -r target propagation type source; do
              case "$propagation $type $source" in "private fuse "*|"private fuse."*|"private "*" /dev/loop"*)
                target="$(printf %b "$target")"
                [[ "$target/" == "$own"/* ]] || umount -il "$target" || : ;;
              esac
            done
            """;

    /** Covers the folder of the links by one that takes changes, without those of the machine. */
    private static final String COVER = "set -e; own=\"${0%/*}\"\n" + LET_GO_OF_OTHERS + "sbin=$(readlink -f /sbin);"
            + " mount --make-private \"$(findmnt -no TARGET -T $sbin)\"; mount -t tmpfs tmpfs \"$0\";"
            + " mkdir \"$0/upper\" \"$0/work\"; mount -t overlay -o lowerdir=$sbin,upperdir=$0/upper,workdir=$0/work overlay $sbin;"
            + " if [[ -f /etc/updatedb.conf ]]; then cp /etc/updatedb.conf \"$0/updatedb\";"
            + " mount --bind \"$0/updatedb\" /etc/updatedb.conf; fi;"
            + " rm -f /sbin/{mount,mount.fuse,umount,umount.fuse}.sdfs; echo; exec cat";

    private final Path folder;
    private final Path prefix;
    private final Path configFolder;
    /** Keeps the namespace until its input ends. */
    private final Process keeper;

    /**
     * Installs nothing yet. Skips the test if it cannot run here.
     *
     * @param folder empty, with a real path
     */
    static Installation in(Path folder) throws IOException {
        assumeTrue(Files.exists(Path.of("/dev/fuse")), "needs /dev/fuse");
        assumeTrue(Commands.succeed("id", "-u").strip().equals("0"), "needs root, to mount");
        Installation made = new Installation(folder);
        if (made.keeper.getInputStream().read() != '\n') {
            made.close();
            throw new AssertionError("no mount namespace with another /sbin");
        }
        return made;
    }

    /** Installs, for the JVM that runs the tests, with the archives of a short rehearsal. */
    static Installation make(Path folder) throws IOException {
        Installation made = in(folder);
        try {
            Path scripts = Commands.projectFolder().resolve("scripts");
            String home = "JAVA_HOME=" + System.getProperty("java.home");
            made.succeed("env", home, scripts.resolve("install"), "--prefix=" + made.prefix, "--no-rehearsal");
            String rehearse =
                    "set -e; source \"$0/common.bash\"; source \"$0/rehearsal.bash\"; rehearse \"$1\" touch_all";
            made.succeed("bash", "-c", rehearse, scripts, made.folder().resolve("bin"));
            return made;
        } catch (IOException | RuntimeException | Error e) {
            made.close();
            throw e;
        }
    }

    private Installation(Path folder) throws IOException {
        this.folder = folder;
        prefix = folder.resolve("prefix");
        configFolder = Files.createDirectories(folder.resolve("config"));
        Path cover = Files.createDirectory(folder.resolve("sbin"));
        Commands.succeed("mount", "--bind", "--make-shared", folder, folder);
        keeper = new ProcessBuilder("unshare", "-m", "--propagation=unchanged", "bash", "-c", COVER, cover.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    Path folder() {
        return prefix.resolve("lib/sdfs");
    }

    Path prefix() {
        return prefix;
    }

    /** The words that run an installed command, or any other, with the mounts and the links of this installation. */
    List<String> inside(Object... command) {
        List<String> words = new ArrayList<>(List.of("nsenter", "-m", "-t", Long.toString(keeper.pid()), "--"));
        words.addAll(Commands.words(command));
        int first = words.size() - command.length;
        Path installed = prefix.resolve("bin").resolve(words.get(first));
        if (Files.exists(installed)) {
            words.set(first, installed.toString());
        }
        return words;
    }

    Commands.Result run(Object... command) throws IOException {
        return Commands.run(Map.of("SDFS_CONFIG_DIR", configFolder.toString()), inside(command));
    }

    String succeed(Object... command) throws IOException {
        Commands.Result result = run(command);
        assertEquals(
                0, result.exitCode(), () -> String.join(" ", Commands.words(command)) + " said " + result.output());
        return result.output();
    }

    /** Runs a program as another user, without any variable but PATH. */
    Commands.Result asNobody(Object... command) throws IOException {
        List<Object> words = new ArrayList<>(List.of(
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "env",
                "-i",
                "PATH=" + System.getenv("PATH")));
        words.addAll(List.of(command));
        return run(words.toArray());
    }

    /** The mounts in its namespace: a remount changes the options of those only. */
    String mounts() throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(keeper.pid()), "mounts"));
    }

    void makeVolume(String name, Path base) throws IOException {
        succeed(
                "mkfs.sdfs",
                "--volume-name=" + name,
                "--volume-capacity=10GB",
                "--base-path=" + base,
                "--memory-budget=256MB");
    }

    /** Returns the daemon of a mount; its command line ends with the volume and the mount point. */
    static ProcessHandle daemon(String volume, Path mountPoint) {
        String end = "\0--\0" + volume + "\0" + mountPoint + "\0";
        return ProcessHandle.allProcesses()
                .filter(process -> commandLine(process).endsWith(end))
                .findFirst()
                .orElseThrow(() -> new AssertionError(volume + " is not mounted on " + mountPoint));
    }

    private static String commandLine(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
        } catch (IOException e) {
            return "";
        }
    }

    /** Even if no process reaps it. */
    static void awaitEnd(ProcessHandle daemon) throws IOException, InterruptedException {
        for (int i = 0; DaemonProcess.isAlive(daemon.pid()); i++) {
            assertTrue(i < 3000, () -> "process " + daemon.pid() + " still runs after a minute");
            Thread.sleep(20);
        }
    }

    /** Waits until no daemon has the volume with this base folder: umount(8) without the helper does not. */
    static void awaitClosed(Path base, String volume) throws IOException {
        Path lock = base.resolve("run").resolve(volume + ".lock");
        Commands.run("timeout", "60", "bash", "-c", "while fuser -s \"$0\"; do sleep 0.05; done", lock);
    }

    @Override
    public void close() throws IOException {
        keeper.getOutputStream().close();
        Commands.run("rm", "-r", prefix);
        Commands.run("umount", "-l", folder);
    }
}
