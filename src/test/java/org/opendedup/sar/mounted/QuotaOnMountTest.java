package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Quotas of a mounted volume, as users and an administrator see them. */
@Timeout(600)
class QuotaOnMountTest {
    private static final String AS_NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups ";
    private static final int MIB = 1 << 20;
    private static final String EXCEEDED = "Disk quota exceeded";

    @TempDir
    Path folder;

    private static Commands.Result asNobody(Path in, String command) throws IOException {
        return Commands.run("bash", "-c", "cd '" + in + "' && " + AS_NOBODY + command);
    }

    private static void assertExceeded(Commands.Result result) {
        assertNotEquals(0, result.exitCode());
        assertTrue(result.output().contains(EXCEEDED), result::output);
    }

    private static Path folderForAll(MountedVolume volume, String name) throws IOException {
        Path shared = Files.createDirectory(volume.mountPoint().resolve(name));
        Commands.succeed("chmod", "0777", shared);
        return shared;
    }

    private static String write(String file, int mib) {
        return "dd if=/dev/urandom of=" + file + " bs=1M count=" + mib + " status=none conv=fsync";
    }

    /** Of {@code df}: size, free and available in bytes, inodes, free inodes. */
    private static List<Long> df(Path path) throws IOException {
        String[] lines = Commands.succeed("df", "-B1", "--output=size,used,avail,itotal,iavail", path)
                .split("\n");
        return List.of(lines[1].strip().split("\\s+")).stream()
                .map(Long::parseLong)
                .toList();
    }

    private static Map<String, Object> entry(MountedVolume volume, String kind, long id) throws IOException {
        return Json.objects(volume.json("quota", "report"), "quotas").stream()
                .filter(entry -> entry.get("kind").equals(kind) && Json.number(entry, "id") == id)
                .findFirst()
                .orElseThrow();
    }

    /** Writes more than a folder's quota into the kernel's cache; prints what write(2), fsync and close said. */
    private static final String WRITE_THROUGH_CACHE = """
            import errno, os, sys
            said = []
            def call(name, work):
                try:
                    work()
                except OSError as e:
                    said.append(name + ' ' + errno.errorcode[e.errno])
            file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
            call('write', lambda: os.write(file, os.urandom(6 << 20)))
            call('fsync', lambda: os.fsync(file))
            call('write', lambda: os.write(file, b'more'))
            call('close', lambda: os.close(file))
            print(', '.join(said))
            """;

    /** Reads the project of a file, sets it to 5 if it is no folder, and reads it again. */
    private static final String IOCTL = """
            import fcntl, os, struct, sys
            file = os.open(sys.argv[1], os.O_RDONLY)
            def project():
                return struct.unpack('7I', fcntl.ioctl(file, 0x801c581f, bytes(28)))[3]
            before = project()
            said = 'done'
            try:
                unsupported = 1 if os.path.isdir(sys.argv[1]) else 0
                fcntl.ioctl(file, 0x401c5820, struct.pack('7I', unsupported, 0, 0, 5, 0, 0, 0))
            except OSError as e:
                said = e.errno
            print(before, project(), said)
            """;

    private static String ioctl(String as, Path file) throws IOException {
        String script = as + "python3 - '" + file.getFileName() + "' <<'END'\n" + IOCTL + "END\n";
        return Commands.run("bash", "-c", "cd '" + file.getParent() + "' && " + script)
                .output()
                .strip();
    }

    @Test
    void limitsOfUsersGroupsAndFoldersHold() throws IOException {
        try (MountedVolume volume = MountedVolume.makeWithCapacity(folder.resolve("limits"), "1GB")) {
            volume.mount();
            Path root = volume.mountPoint();
            Path limited = folderForAll(volume, "limited folder");
            Path free = folderForAll(volume, "free");
            Commands.succeed("bash", "-c", "cd '" + limited + "' && mkdir -m 777 sub && touch sub/old old");

            // A folder: df shows its limits; bytes and files end there; nothing moves across its border but by a copy.
            String set =
                    volume.run("quota", "set", "--folder=" + limited, "--bytes=4MB:5MB", "--files=0:7", "--grace=2h");
            assertTrue(set.contains("/limited folder"), set);
            assertEquals(List.of(4L * MIB, 0L, 4L * MIB, 7L, 3L), df(limited.resolve("sub")));
            assertTrue(df(free).get(0) == 1L << 30, () -> "outside it is the volume");
            Commands.Result cached = asNobody(limited, "python3 - cached <<'END'\n" + WRITE_THROUGH_CACHE + "END\n");
            assertTrue(cached.output().startsWith("fsync EDQUOT, write EDQUOT"), cached::output);
            Map<String, Object> ofFolder = entry(volume, "project", 1);
            assertEquals("/limited folder", ofFolder.get("folder"));
            assertTrue(Json.number(ofFolder, "bytes") <= 5 * MIB, ofFolder::toString);
            assertTrue(Json.number(ofFolder, "bytesGraceLeft") > 7000, ofFolder::toString);
            assertEquals(5, Json.number(ofFolder, "files"));
            // The kernel tells whoever asks for all files next that bytes of one were refused, which is not their
            // matter.
            volume.run("snapshot", "create", "beside it");
            volume.run("snapshot", "delete", "beside it");
            Files.delete(limited.resolve("cached"));
            // The kernel reports the end of the last use of a file after its delete has returned.
            TestWait.until(() -> Json.number(entry(volume, "project", 1), "files") == 4);
            assertExceeded(asNobody(limited.resolve("sub"), "touch a b c d"));
            assertEquals(0, df(limited).get(4));
            assertEquals(0, asNobody(free, write("moved", 3)).exitCode());
            assertExceeded(asNobody(free, "mv moved '../limited folder'"));
            Commands.succeed("bash", "-c", "cd '" + limited + "' && rm sub/a old && mv sub/old '" + free + "'");
            assertEquals(0, asNobody(free, "mv moved '../limited folder'").exitCode());
            assertTrue(Commands.run("ln", free.resolve("old"), limited.resolve("link"))
                    .output()
                    .contains("cross-device"));

            // Linux asks for the project by an ioctl.
            assertEquals("1 1 95", ioctl("", limited));
            assertEquals("0 5 done", ioctl("", free.resolve("old")));
            assertEquals(1, Json.number(entry(volume, "project", 5), "files"));
            assertEquals("1 1 1", ioctl(AS_NOBODY, limited.resolve("moved")));

            // A user and a group: the owner is charged, root is not refused.
            volume.run("quota", "set", "--user=65534", "--bytes=0:4MB");
            volume.run("quota", "set", "--group=65534", "--files=100");
            assertExceeded(asNobody(free, write("second", 2)));
            Files.delete(free.resolve("second"));
            TestWait.until(() -> Json.number(entry(volume, "user", 65_534), "bytes") == 3 * MIB);
            Bytes.writeAndSync(free.resolve("of root"), Bytes.random(1, 3 * MIB));
            Commands.succeed("chown", "65534:65534", free.resolve("of root"));
            Map<String, Object> ofUser = entry(volume, "user", 65_534);
            assertEquals(6 * MIB, Json.number(ofUser, "bytes"));
            assertEquals("nobody", ofUser.get("name"));
            assertExceeded(asNobody(free, write("third", 1)));
            // A user sees his own quotas, and nothing of others, without a right to command the daemon.
            String getfattr = "getfattr --only-values -n user.sdfs.quota ";
            String own = asNobody(limited, getfattr + ".").output();
            Object files = entry(volume, "user", 65_534).get("files");
            assertEquals(
                    List.of(
                            "user 65534: bytes=6291456 softBytes=0 hardBytes=4194304 files=" + files
                                    + " softFiles=0 hardFiles=0",
                            "group 65534: bytes=6291456 softBytes=0 hardBytes=0 files=" + files
                                    + " softFiles=100 hardFiles=0",
                            "project 1: bytes=3145728 softBytes=4194304 hardBytes=5242880 files="
                                    + entry(volume, "project", 1).get("files") + " softFiles=0 hardFiles=7"),
                    own.lines().toList());
            assertEquals(2, asNobody(free, getfattr + ".").output().lines().count());
            assertTrue(Commands.run("bash", "-c", "cd '" + free + "' && " + getfattr + ".")
                    .output()
                    .startsWith("user 0: "));
            assertEquals("", Commands.succeed("getfattr", "-d", "-m", "sdfs", limited));
            Commands.succeed("chgrp", "1234", free);
            String asMember = AS_NOBODY.replace("--clear-groups", "--groups=4321,1234");
            String members = Commands.succeed("bash", "-c", "cd '" + free + "' && " + asMember + getfattr + ".");
            assertEquals(
                    List.of("user 65534", "group 65534", "group 1234"),
                    members.lines().map(line -> line.replaceFirst(":.*", "")).toList());
            assertEquals(2, asNobody(free, getfattr + ".").output().lines().count(), "who is not in the group");
            assertNotEquals(
                    0,
                    Commands.run("setfattr", "-n", "user.sdfs.quota", "-v", "x", limited)
                            .exitCode());
            Map<String, Object> figures = volume.json("stats");
            assertEquals(3, Json.number(figures, "quotas"));
            assertEquals(1, Json.number(figures, "quotasReached"), "the user");
            assertEquals(0, Json.number(figures, "quotasOverSoft"));
            assertEquals("well", volume.json("status").get("health"));
            String report = volume.run("quota", "report");
            assertTrue(report.contains("nobody") && report.contains("/limited folder"), report);
            assertTrue(volume.run("audit", "--json").contains("\"quota\""));
            assertNotEquals(
                    0,
                    volume.cli("quota", "set", "--user=65534", "--bytes=5MB:4MB")
                            .exitCode());
            assertEquals(64, volume.cli("quota", "set", "--user=65534").exitCode());
            Commands.Result negative = volume.cli("quota", "set", "--project=-1", "--bytes=1MB");
            assertEquals(1, negative.exitCode(), negative::output);
            assertTrue(negative.output().contains("project -1 is no number of one"), negative::output);
            assertEquals(
                    64,
                    volume.cli("quota", "set", "--user=1", "--group=1", "--bytes=1MB")
                            .exitCode());

            volume.remount();
            assertEquals(6 * MIB, Json.number(entry(volume, "user", 65_534), "bytes"));
            assertEquals(7, Json.number(entry(volume, "project", 1), "hardFiles"));
            assertExceeded(asNobody(root.resolve("free"), write("fourth", 1)));
            volume.unmount();
            assertEquals(List.of(), Recount.problems(volume));
        }
    }
}
