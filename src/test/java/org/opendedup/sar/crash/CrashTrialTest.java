package org.opendedup.sar.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.opendedup.sar.TestSeed;
import org.opendedup.sar.metadata.record.Inode;
import org.opendedup.sar.model.FileSystem;
import org.opendedup.sar.model.HandleDecorator;
import org.opendedup.sar.model.Listing;
import org.opendedup.sar.model.ModelFileSystem;
import org.opendedup.sar.model.Modes;
import org.opendedup.sar.volume.posix.Attributes;

/** Tests the crash test, on models that keep synced data, and on some that do not. */
class CrashTrialTest {
    private static final int OPS = 300;
    private static final int CONTROL_SEEDS = 20;

    static LongStream seeds() {
        return TestSeed.upTo(5);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aModelThatKeepsItsPromisesPasses(long seed) throws IOException {
        new CrashTrial(FaithfulVolume::new).check(seed, OPS, getClass());
    }

    @Test
    void aSyncThatIsForgottenIsFound() throws IOException {
        assertTrue(new CrashTrial(seed -> new FaithfulVolume(seed) {
                    @Override
                    ModelFileSystem atSync() {
                        return new ModelFileSystem();
                    }
                })
                .findsALoss(CONTROL_SEEDS, OPS));
    }

    @Test
    void aWrongByteIsFound() throws IOException {
        assertTrue(new CrashTrial(seed -> new FaithfulVolume(seed) {
                    @Override
                    public FileSystem restart() throws IOException {
                        FileSystem found = super.restart();
                        overwriteSomeByte(found);
                        return found;
                    }
                })
                .findsALoss(CONTROL_SEEDS, OPS));
    }

    @Test
    void aNameThatIsLostIsFound() throws IOException {
        assertTrue(new CrashTrial(seed -> new FaithfulVolume(seed) {
                    @Override
                    public FileSystem restart() throws IOException {
                        FileSystem found = super.restart();
                        for (String name : new Listing(found).tree().keySet()) {
                            if (!name.isEmpty() && !name.contains("/")) {
                                byte[] bytes = name.getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
                                if (!Modes.isDirectory(
                                        found.lookup(Inode.ROOT, bytes).mode())) {
                                    found.unlink(Inode.ROOT, bytes);
                                    break;
                                }
                            }
                        }
                        return found;
                    }
                })
                .findsALoss(CONTROL_SEEDS, OPS));
    }

    private static void overwriteSomeByte(FileSystem found) throws IOException {
        for (Attributes attributes : new Listing(found).tree().values()) {
            if (Modes.isRegular(attributes.mode()) && attributes.size() > 0) {
                try (FileSystem.Handle handle = found.open(attributes.inode(), true)) {
                    handle.write(attributes.size() / 2, ByteBuffer.wrap(new byte[] {'!'}));
                }
                return;
            }
        }
    }

    /** A model of a volume: after a crash its state is that of the last sync, or that of the end. */
    private static class FaithfulVolume implements CrashableVolume {
        private final SplittableRandom random;
        private final SyncingModel live = new SyncingModel();
        private ModelFileSystem durable = new ModelFileSystem();
        private ModelFileSystem found;

        FaithfulVolume(long seed) {
            random = new SplittableRandom(seed);
        }

        /** The state that a sync makes durable. */
        ModelFileSystem atSync() {
            return live.copy();
        }

        @Override
        public FileSystem start() {
            return live;
        }

        @Override
        public void cutPowerAfter(long steps) {
            found = random.nextInt(3) == 0 ? live.copy() : durable;
        }

        @Override
        public boolean isPowerOff() {
            return found != null;
        }

        @Override
        public FileSystem restart() throws IOException {
            if (found == null) {
                cutPowerAfter(0);
            }
            return found;
        }

        private final class SyncingModel extends ModelFileSystem {
            @Override
            public void sync() {
                durable = atSync();
            }

            @Override
            public Handle open(long inode, boolean writable) throws IOException {
                Handle handle = super.open(inode, writable);
                return new SyncingHandle(handle, this::sync);
            }
        }
    }

    private static final class SyncingHandle extends HandleDecorator {
        private final Runnable onSync;

        SyncingHandle(FileSystem.Handle handle, Runnable onSync) {
            super(handle);
            this.onSync = onSync;
        }

        @Override
        public void sync(boolean dataOnly) {
            onSync.run();
        }
    }
}
