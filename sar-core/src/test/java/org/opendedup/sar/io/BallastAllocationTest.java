package org.opendedup.sar.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opendedup.sar.common.NoSpaceException;

/** The action of a ballast after each result of its request for space. */
final class BallastAllocationTest {
    private static final long BYTES = 1 << 20;
    private static final int ENOSPC = 28;
    private static final int EDQUOT = 122;
    private static final int EOPNOTSUPP = 95;

    @TempDir
    Path folder;

    /** Writing would take the last bytes of the device from others for a while, and nevertheless fail. */
    @Test
    void aDeviceThatSaysItIsFullIsNotFilled() {
        for (int errno : new int[] {ENOSPC, EDQUOT}) {
            Ballast ballast = new Ballast(folder, BYTES, (file, bytes) -> errno);
            assertThrows(NoSpaceException.class, ballast::make);
            assertFalse(ballast.exists());
            assertEquals(0, folder.toFile().list().length);
        }
    }

    /** The control: if the file system cannot allocate space, the bytes are written. */
    @Test
    void whereSpaceCannotBeSetAsideTheFileIsFilled() throws IOException {
        Ballast ballast = new Ballast(folder, BYTES, (file, bytes) -> EOPNOTSUPP);
        ballast.make();
        assertEquals(BYTES, Files.size(folder.resolve(Ballast.NAME)));
    }
}
