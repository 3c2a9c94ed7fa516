package org.opendedup.sar.mounted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.disks.Bytes;
import org.opendedup.sar.disks.Commands;

/** Programs that go through a tree on a mount are read ahead across its files. */
@Timeout(300)
class TreeOnMountTest {
    private static final int FOLDERS = 20;
    private static final int FILES = 40;
    private static final int FILE_BYTES = 12_000;

    @TempDir
    Path folder;

    private final Random random = new Random(TestSeed.next());
    private MountedVolume volume;

    @BeforeEach
    void make() throws IOException {
        volume = MountedVolume.makeWithCapacity(folder.resolve("tree"), "100MB");
        volume.mount();
        for (int i = 0; i < FOLDERS; i++) {
            Path inner = Files.createDirectories(volume.mountPoint().resolve("a" + i % 4 + "/b" + i));
            for (int j = 0; j < FILES; j++) {
                Files.write(inner.resolve("f" + j), Bytes.random(i * FILES + j, FILE_BYTES));
            }
        }
    }

    @AfterEach
    void remove() throws IOException {
        volume.close();
    }

    /** Returns the reads of containers of a command that reads the files, after another mount. */
    private long reads(String script) throws IOException {
        volume.remount();
        Path copy = folder.resolve("copy");
        Commands.succeed("mkdir", copy);
        Commands.succeed("bash", "-c", "set -e; cd " + volume.mountPoint() + "; to=" + copy + "; " + script);
        for (int i = 0; i < FOLDERS; i++) {
            for (int j = 0; j < FILES; j++) {
                Path file = copy.resolve("a" + i % 4 + "/b" + i + "/f" + j);
                assertEquals(-1, Arrays.mismatch(Bytes.random(i * FILES + j, FILE_BYTES), Files.readAllBytes(file)));
            }
        }
        Commands.succeed("rm", "-r", copy);
        return volume.figure("stats", "diskReads");
    }

    /** A script that reads the files one at a time, in no order. */
    private String inNoOrder() throws IOException {
        List<String> files = new ArrayList<>();
        for (int i = 0; i < FOLDERS * FILES; i++) {
            files.add("a" + i / FILES % 4 + "/b" + i / FILES + "/f" + i % FILES);
        }
        Collections.shuffle(files, random);
        return "cp -a --parents $(cat " + Files.write(folder.resolve("list"), files) + ") $to";
    }

    @Test
    void tarAndCpReadFewerContainersThanOneFileAtATimeInNoOrder() throws IOException {
        long inNoOrder = reads(inNoOrder());
        long tar = reads("tar cf - . | tar xf - -C $to");
        long cp = reads("cp -a . $to");
        assertTrue(tar < inNoOrder / 2, () -> "tar " + tar + ", in no order " + inNoOrder);
        assertTrue(cp < inNoOrder / 2, () -> "cp " + cp + ", in no order " + inNoOrder);
    }

    @Test
    void rsyncDoesSoToo() throws IOException {
        assumeTrue(Commands.run("sh", "-c", "command -v rsync").exitCode() == 0, "needs rsync");
        long inNoOrder = reads(inNoOrder());
        long rsync = reads("rsync -a ./ $to/");
        assertTrue(rsync < inNoOrder / 2, () -> "rsync " + rsync + ", in no order " + inNoOrder);
    }
}
