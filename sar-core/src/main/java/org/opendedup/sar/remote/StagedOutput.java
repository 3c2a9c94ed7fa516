package org.opendedup.sar.remote;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Output;

/**
 * A pack that is being written in the local folder. Reserves no space: where it lies there matters for a short time
 * only.
 */
final class StagedOutput implements Output {
    private final Output output;
    private final StagedPack pack;
    private final Runnable completed;
    private final CRC32C crc = new CRC32C();
    /** Whether the file may not be what was appended, so that its checksum is not known. */
    private boolean isInDoubt;

    /** @param completed called once, when nothing is appended any more */
    StagedOutput(Output output, StagedPack pack, Runnable completed) {
        this.output = output;
        this.pack = pack;
        this.completed = completed;
    }

    @Override
    public long append(ByteBuffer source) throws IOException {
        requirePresent();
        ByteBuffer appended = source.duplicate();
        long offset;
        try {
            offset = output.append(source);
        } catch (NoSpaceException e) {
            throw e; // The bytes of the file are as they were.
        } catch (IOException | RuntimeException e) {
            doubt();
            throw e;
        }
        crc.update(appended);
        synchronized (pack) {
            if (pack.missing() == 0) {
                pack.missingSinceNs = System.nanoTime();
            }
            pack.length = output.position();
            pack.crc32c = isInDoubt ? null : (Integer) (int) crc.getValue();
        }
        pack.usedNs = System.nanoTime();
        return offset;
    }

    /** Fails if the file was given up: what is written to it is read by nobody. */
    private void requirePresent() throws IOException {
        synchronized (pack) {
            if (pack.lost) {
                throw new IOException(output + " is lost");
            }
        }
    }

    /**
     * Has the pack put as the file is then: the disk has failed, and may have a part of an append, or not what was to
     * be forced. Nobody refers to such bytes, but others of the pack are needed.
     */
    private void doubt() {
        isInDoubt = true;
        synchronized (pack) {
            pack.crc32c = null;
        }
    }

    @Override
    public long position() {
        return output.position();
    }

    @Override
    public void startWriting() {
        output.startWriting();
    }

    @Override
    public void force() throws IOException {
        requirePresent();
        long before = output.position();
        try {
            output.force();
        } catch (IOException | RuntimeException e) {
            doubt();
            throw e;
        }
        synchronized (pack) {
            pack.forced = Math.max(pack.forced, before);
        }
    }

    @Override
    public void close() throws IOException {
        output.close();
        synchronized (pack) {
            if (pack.complete) {
                return;
            }
            pack.complete = true;
        }
        completed.run();
    }

    @Override
    public String toString() {
        return output.toString();
    }
}
