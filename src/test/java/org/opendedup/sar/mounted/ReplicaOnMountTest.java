package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.disks.Commands;

/** A copy of a mounted, encrypted volume that follows it, by the commands of both sides. */
@Timeout(300)
class ReplicaOnMountTest {
    private static final String DIGEST = "tar --sort=name --xattrs --pax-option=delete=atime -cf - tree | sha256sum";

    @TempDir
    Path folder;

    private MountedVolume source;
    private MountedVolume copy;

    @AfterEach
    void remove() throws IOException {
        try (MountedVolume first = source;
                MountedVolume second = copy) {
            // Closed even if one of them fails.
        }
    }

    private static String in(MountedVolume volume, String script) throws IOException {
        return Commands.succeed("bash", "-c", "set -e -o pipefail; cd " + volume.mountPoint() + "; " + script)
                .strip();
    }

    /** Returns the command of one of the volumes, for a shell. */
    private static String sdfscli(MountedVolume volume) {
        return "SDFS_CONFIG_DIR=" + volume.configFolder() + " SDFS_STREAM_PASSPHRASE='" + MountedVolume.PASSPHRASE
                + "' " + Commands.projectFolder().resolve("scripts/sdfscli") + " " + volume.name();
    }

    @Test
    void aCopyFollowsAVolume() throws IOException {
        source = MountedVolume.makeWith(folder.resolve("pool"), "--encrypt");
        copy = MountedVolume.makeWith(folder.resolve("copy"));
        source.mount();
        in(source, """
                mkdir -p tree/a/b tree/empty
                head -c 9000000 /dev/urandom > tree/a/large
                for i in $(seq 100); do echo $i > tree/a/b/f$i; done
                ln tree/a/large tree/hard
                ln -s a/large tree/soft
                mkfifo tree/fifo
                mknod tree/null c 1 3
                truncate -s 5M tree/sparse
                setfattr -n user.kept -v value tree/a
                chown 1000:1000 tree/a/b
                """);
        source.run("snapshot", "create", "one");
        String one = in(source, DIGEST);
        String receive = sdfscli(copy) + " receive --answer";

        // The pipe breaks: nothing is mounted until the rest is there, and the same command goes on.
        assertNotEquals(
                0,
                source.cli("send", "one", "--to=head -c 3000000 | " + receive).exitCode());
        Commands.Result early = copy.tryMount(copy.mountPoint());
        assertTrue(early.output().contains("is not complete"), early::output);
        // Also if it is about a younger snapshot: the rest of the other comes first.
        source.run("snapshot", "create", "between");
        String both = source.run("send", "between", "--to=" + receive);
        assertTrue(both.contains("Sent snapshot one:"), both);
        assertTrue(both.contains("Sent snapshot between since one:") && both.contains("0 B of new content"), both);
        assertEquals(64, source.cli("send").exitCode());

        in(source, """
                rm -r tree/empty tree/hard
                mv tree/a/b tree/moved
                head -c 5000 /dev/urandom | dd of=tree/a/large bs=1000 seek=2000 conv=notrunc status=none
                cp tree/a/large tree/copied
                truncate -s 7 tree/sparse
                """);
        source.run("snapshot", "create", "two");
        String two = in(source, DIGEST);
        Commands.succeed(
                "bash",
                "-c",
                "set -o pipefail; " + sdfscli(source) + " send two --since=between | " + sdfscli(copy) + " receive");

        copy.mount();
        String status = copy.cli("status").output().replaceAll("\\s+", " ");
        assertTrue(status.contains("received: the volume is a replica"), status);
        assertEquals(two, in(copy, DIGEST));
        assertEquals(one, in(copy, "cd .snapshots/one; " + DIGEST));
        Commands.Result changed = Commands.run("bash", "-c", "touch " + copy.mountPoint() + "/tree/moved/f1 2>&1");
        assertTrue(changed.output().contains("Read-only file system"), changed::output);
        copy.run("snapshot", "delete", "one");
        copy.run("gc", "--wait");
        assertEquals(two, in(copy, DIGEST));
    }
}
