package org.opendedup.sar.sdfs.cli.files;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.PosixException;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.sdfs.config.Definitions;
import org.opendedup.sar.volume.Volume;
import org.opendedup.sar.volume.config.VolumeConfig;
import org.opendedup.sar.volume.posix.Owner;

class VolumePathsTest {
    @TempDir
    Path folder;

    private Volume volume;
    private long file;

    @BeforeEach
    void makeVolume() throws IOException {
        VolumeConfig config = Definitions.plain("pool0", folder.resolve("base")).engineConfig();
        Volume.create(config);
        volume = Volume.open(config);
        Owner root = new Owner(0, 0);
        long sub = volume.makeDirectory(Inode.ROOT, "sub".getBytes(UTF_8), 0755, root)
                .inode();
        file = volume.makeNode(sub, "file".getBytes(UTF_8), 0100644, 0, root).inode();
    }

    @AfterEach
    void closeVolume() throws IOException {
        volume.close();
    }

    @Test
    void aFileIsFoundByItsPath() throws IOException {
        long found = new VolumePaths(volume).use("sub//file", inode -> inode);
        assertEquals(file, found);
        long root = new VolumePaths(volume).use("", inode -> inode);
        assertEquals(Inode.ROOT, root);
    }

    @Test
    void whatIsNotThereIsNamed() {
        var e = assertThrows(IOException.class, () -> new VolumePaths(volume).use("sub/x", inode -> inode));
        assertTrue(e.getMessage().equals("sub/x is no file of the volume"), e.getMessage());
    }

    @Test
    void aFailureOfWhatIsDoneIsNoMissingFile() {
        var e = assertThrows(
                IOException.class,
                () -> new VolumePaths(volume).use("sub/file", inode -> {
                    throw new PosixException(PosixException.Reason.EROFS, "the volume is read-only");
                }));
        assertEquals("sub/file: EROFS: the volume is read-only", e.getMessage());
    }
}
