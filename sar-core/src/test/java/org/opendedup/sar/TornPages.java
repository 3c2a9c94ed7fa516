package org.opendedup.sar;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.opendedup.sar.common.CorruptionException;

/**
 * Loses pages of every file of a database, one at a time (a run that explores loses each), and truncates every file, as
 * after a power cut. Opening it then either succeeds or reports damage, so that it is made anew. Any other failure
 * would prevent a mount.
 */
public abstract class TornPages {
    private static final int PAGE = 4096;

    private int trials;

    /** Opens the database in a folder, reads what is to be read, and closes it. */
    protected abstract void open(Path folder) throws IOException;

    protected abstract void destroy(Path folder) throws IOException;

    /**
     * Damages a database.
     *
     * @param sound the folder with its files, which stay as they are
     * @param temporary where the damaged copies are made
     */
    public final void tear(Path sound, Path temporary) throws IOException {
        int refused = 0;
        for (Path file : TestFolders.files(sound)) {
            byte[] whole = Files.readAllBytes(file);
            for (int page : TestSeed.steps((whole.length + PAGE - 1) / PAGE, 4).toArray()) {
                byte[] torn = whole.clone();
                Arrays.fill(torn, page * PAGE, Math.min(torn.length, (page + 1) * PAGE), (byte) 0);
                refused += isRefused(sound, temporary, file, torn) ? 1 : 0;
            }
            refused += isRefused(sound, temporary, file, Arrays.copyOf(whole, whole.length / 2)) ? 1 : 0;
            refused += isRefused(sound, temporary, file, new byte[0]) ? 1 : 0;
        }
        assertTrue(refused > 0, "the control: some damage is noticed");
    }

    private boolean isRefused(Path sound, Path temporary, Path damaged, byte[] bytes) throws IOException {
        Path copy = temporary.resolve("copy" + trials++);
        TestFolders.copy(sound, copy);
        Files.write(copy.resolve(damaged.getFileName()), bytes);
        try {
            open(copy);
            return false;
        } catch (CorruptionException e) {
            destroy(copy);
            open(copy);
            return true;
        } catch (IOException e) {
            throw new AssertionError(damaged + ": " + e.getMessage(), e);
        }
    }
}
