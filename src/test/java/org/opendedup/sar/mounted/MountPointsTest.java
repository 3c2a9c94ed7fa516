package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/** Where a volume may be mounted, and names that other mounts of the machine may have. */
class MountPointsTest {
    /**
     * Ends everything it started, whatever fails. Runs in its own mount namespace: other volumes do not see these
     * mounts.
     */
    private static final String SHELL = """
            set -eu
            sdfs() { "$scripts/$1" "${@:2}"; }
            pid=
            trap '[[ -z $pid ]] || kill -9 $pid 2>/dev/null || :' EXIT
            mount_volume() { local said; said="$(sdfs mount.sdfs "$volume" "$@")" || return; echo "$said"
              pid="$(sed -n 's/.*process \\([0-9]*\\).*/\\1/p' <<<"$said")"; }
            """;

    private MountedVolume volume;
    private Path folder;

    @BeforeEach
    void makeAVolume(@TempDir Path folder) throws IOException {
        this.folder = folder.toRealPath();
        volume = MountedVolume.make(Files.createDirectory(this.folder.resolve("vol")));
    }

    @AfterEach
    void close() throws IOException {
        volume.close();
    }

    @Test
    void otherMountPointsThatAreNoTextDoNotMatter() throws IOException {
        Commands.Result result = inOwnNamespace("""
                odd="$folder"/$'odd\\xff\\xe9 name\\n\\033[31m'; mkdir "$odd"
                mount -t tmpfs odd "$odd"
                grep -q odd /proc/self/mountinfo || { echo "the control: nothing odd is mounted"; exit 9; }
                cd "$odd"; exec -a $'odd\\xff' sleep 300 & sleeper=$!; cd /
                mount_volume "$folder/vol/mnt"
                echo kept > "$folder/vol/mnt/file"
                sdfs sdfscli --list
                sdfs sdfscli "$volume" info
                kill $sleeper
                sdfs sdfscli "$volume" unmount
                """);
        assertEquals(0, result.exitCode(), result::output);
        assertTrue(result.output().contains("Mounted vol on "), result::output);
        assertTrue(result.output().contains("mounted on " + volume.mountPoint()), result::output);
        assertTrue(result.output().contains("Unmounted vol from "), result::output);
    }

    /** Any user can give a process this name; before, it prevented the daemon from naming the users of the mount. */
    @Test
    void aProcessWhoseNameIsNoTextIsNamedAmongTheUsersOfAMount() throws IOException {
        Commands.Result result = inOwnNamespace("""
                mount_volume "$folder/vol/mnt"
                cp "$(command -v sleep)" "$folder"/$'s\\xff\\033[2J'
                (cd "$folder/vol/mnt"; exec "$folder"/$'s\\xff\\033[2J' 300) & sleeper=$!
                until [[ "$(readlink /proc/$sleeper/cwd)" = "$folder/vol/mnt" ]] &&
                  [[ "$(tr -d '\\0' </proc/$sleeper/cmdline)" = *300 ]]
                do sleep 0.05; done
                sdfs sdfscli "$volume" unmount && exit 9
                echo "process $sleeper"
                kill $sleeper; wait $sleeper || :
                mkdir "$folder/vol/mnt/below"; mount -t tmpfs none "$folder/vol/mnt/below"
                sdfs sdfscli "$volume" unmount && exit 10
                umount "$folder/vol/mnt/below"
                sdfs sdfscli "$volume" unmount
                """);
        assertEquals(0, result.exitCode(), result::output);
        assertEquals(1, count(result.output(), "no process is seen that uses it"), result::output);
        String pid = result.output().replaceAll("(?s).*\nprocess (\\d+)\n.*", "$1");
        assertTrue(result.output().contains("used by process " + pid + " (s"), result::output);
        assertFalse(result.output().contains("\033"), result::output);
    }

    @Test
    void aMountPointThatIsNoTextIsRefusedInPlainWords() throws IOException {
        Commands.Result result = inOwnNamespace("""
                odd="$folder"/$'odd\\xff'; mkdir "$odd"; ln -s "$odd" "$folder/link"
                for place in "$odd" "$folder/link"; do
                  if mount_volume "$place"; then exit 9; fi
                done
                cd "$odd"; if mount_volume .; then exit 9; fi
                mount_volume "$folder/vol/mnt"; sdfs sdfscli "$volume" unmount
                """);
        assertEquals(0, result.exitCode(), result::output);
        assertEquals(3, count(result.output(), "whose name is not UTF-8 text"), result::output);
    }

    @Test
    void itIsNotMountedOverItsOwnFolders() throws IOException {
        Path base = folder.resolve("vol/base");
        Path inData = Files.createDirectory(volume.data().resolve("sub"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), base);
        Path inner = Files.createDirectories(base.resolve("mnt"));
        for (Path place : List.of(
                base,
                base.resolve("."),
                folder.resolve("vol"),
                folder,
                Path.of("/"),
                volume.data(),
                inData,
                volume.hashDb(),
                volume.metadata(),
                base.resolve("log"),
                volume.configFolder(),
                link)) {
            Files.createDirectories(place);
            Commands.Result refused = volume.tryMount(place);
            assertEquals(1, refused.exitCode(), () -> place + ": " + refused.output());
            assertTrue(
                    refused.output().contains("cannot be the mount point")
                            || place.equals(Path.of("/")) && refused.output().contains("is mounted on / already"),
                    refused::output);
        }
        Files.delete(inData);
        // The control: next to them, but inside the base path.
        Commands.Result mounted = volume.tryMount(inner);
        assertEquals(0, mounted.exitCode(), mounted::output);
        volume.adopt();
        Commands.succeed("umount", inner);
    }

    /**
     * If a folder is visible at several places, a mount on one of them appears at all, where the kernel propagates
     * mounts.
     */
    @Test
    void itIsNotMountedOverItsOwnFoldersByWayOfABindMount() throws IOException {
        Commands.Result result = inOwnNamespace("""
                mkdir "$folder/bound"
                mount --bind "$folder/vol" "$folder/vol"; mount --make-shared "$folder/vol"
                mount --bind "$folder/vol" "$folder/bound"
                mount -t tmpfs none "$folder/bound/config"
                mountpoint -q "$folder/vol/config" || { echo "the control: mounts do not propagate"; exit 9; }
                umount "$folder/bound/config"
                if mount_volume "$folder/bound/base"; then exit 9; fi
                mkdir "$folder/vol/data/sub"
                if mount_volume "$folder/bound/data/sub"; then exit 9; fi
                rmdir "$folder/vol/data/sub"
                mount_volume "$folder/bound/mnt"; sdfs sdfscli "$volume" unmount
                """);
        assertEquals(0, result.exitCode(), result::output);
        assertEquals(2, count(result.output(), "cannot be the mount point"), result::output);
    }

    private Commands.Result inOwnNamespace(String script) throws IOException {
        return Commands.run(
                Map.of(
                        "SDFS_CONFIG_DIR", volume.configFolder().toString(),
                        "scripts", Commands.projectFolder().resolve("scripts").toString(),
                        "folder", folder.toString(),
                        "volume", volume.name()),
                List.of(
                        "unshare",
                        "--mount",
                        "--propagation",
                        "private",
                        "bash",
                        "-c",
                        "own=\"$folder\"\n" + Installation.LET_GO_OF_OTHERS + SHELL + script));
    }

    private static int count(String text, String part) {
        return text.split(part, -1).length - 1;
    }
}
