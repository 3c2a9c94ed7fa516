package org.opendedup.sar.raw;

import java.io.IOException;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Epoch;
import org.opendedup.sar.crypt.Purpose;
import org.opendedup.sar.crypt.SectorCipher;
import org.opendedup.sar.crypt.VolumeKeys;
import org.opendedup.sar.io.RandomFile;

/** The backing files of an encrypted volume, in a folder that has them encrypted: see {@link SealedFile}. */
public final class SealedRawFolder implements RawFolder {
    /** Two files that share a lock wait for each other, for the time of a write. */
    private static final int LOCKS = 64;

    private final RawFolder folder;
    private final SectorCipher cipher;
    private final ReadWriteLock[] locks = new ReadWriteLock[LOCKS];

    private SealedRawFolder(RawFolder folder, VolumeKeys keys) {
        this.folder = folder;
        cipher = keys.sectorCipher(Purpose.RAW);
        for (int i = 0; i < LOCKS; i++) {
            locks[i] = new ReentrantReadWriteLock();
        }
    }

    /** Returns the folder itself for a volume that is not encrypted. */
    public static RawFolder of(RawFolder folder, @Nullable VolumeKeys keys) {
        return keys == null ? folder : new SealedRawFolder(folder, keys);
    }

    private RandomFile sealed(long number, RandomFile file) {
        return new SealedFile(file, number, cipher, locks[Long.hashCode(number) & LOCKS - 1]);
    }

    @Override
    public @Nullable Epoch epoch() throws IOException {
        return folder.epoch();
    }

    @Override
    public void setEpoch(Epoch used) throws IOException {
        folder.setEpoch(used);
    }

    @Override
    public RandomFile create(long number) throws IOException {
        return sealed(number, folder.create(number));
    }

    @Override
    public RandomFile open(long number) throws IOException {
        return sealed(number, folder.open(number));
    }

    @Override
    public RandomFile.@Nullable Status status(long number) throws IOException {
        RandomFile.Status status = folder.status(number);
        return status == null ? null : SealedFile.opened(status);
    }

    @Override
    public void delete(long number) throws IOException {
        folder.delete(number);
    }

    @Override
    public boolean isAtRest(long number) throws IOException {
        return folder.isAtRest(number);
    }

    @Override
    public boolean isUnused(long number) throws IOException {
        return folder.isUnused(number);
    }

    @Override
    public void sync() throws IOException {
        folder.sync();
    }

    @Override
    public void forEach(LongConsumer visitor) throws IOException {
        folder.forEach(visitor);
    }

    @Override
    public long usableBytes() throws IOException {
        return folder.usableBytes();
    }

    @Override
    public void close() {
        folder.close();
    }

    @Override
    public String toString() {
        return folder.toString();
    }
}
