package org.opendedup.sar.volume;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.io.TimeLimit;
import org.opendedup.sar.raw.FileRawFolder;
import org.opendedup.sar.raw.RawFolder;
import org.opendedup.sar.volume.node.AnswerLimit;

@Timeout(60)
class AnswerLimitTest {
    /** Else its device could not be unmounted as long as the process runs. */
    @Test
    void aFolderThatIsOpenedTooLateIsClosed(@MemoryFolder Path location) throws Exception {
        UUID volume = new UUID(1, 2);
        FileRawFolder.create(location, volume, null);
        CompletableFuture<Void> answer = new CompletableFuture<>();
        CompletableFuture<RawFolder> opened = new CompletableFuture<>();
        AnswerLimit limit = new AnswerLimit("test", Duration.ofMillis(1));
        assertThrows(
                TimeLimit.ExceededException.class,
                () -> limit.open(() -> {
                    answer.join();
                    opened.complete(FileRawFolder.open(location, volume));
                    return opened.join();
                }));
        answer.complete(null);
        while (isOpen(opened.join())) {
            Thread.onSpinWait();
        }
        assertFalse(limit.isHanging());
        RawFolder inTime =
                new AnswerLimit("test", Duration.ofMinutes(1)).open(() -> FileRawFolder.open(location, volume));
        assertTrue(isOpen(inTime), "the control");
        inTime.close();
    }

    private static boolean isOpen(RawFolder folder) {
        try {
            return folder.status(7) == null;
        } catch (IOException closed) {
            return false;
        }
    }
}
