package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.opendedup.sar.common.NoSpaceException;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.FileLayout;
import org.opendedup.sar.io.FileRange;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;

/** A directory whose disk fails on demand. */
class FaultyDirectory implements Directory {
    /** Behaviour of the disk. */
    enum Fault {
        NONE,
        /** EIO on each read. */
        READS,
        /** EIO on each append, after half is written, and on each release, after half of the ranges or the only one. */
        WRITES,
        /** EROFS on each creation, append, trim, release and deletion. */
        READ_ONLY,
        /** ENOSPC on each append, reservation and creation. */
        FULL
    }

    private final Directory disk;
    volatile Fault fault = Fault.NONE;
    /** EIO on each read of this byte of any file; none if it is negative. */
    volatile long badByte = -1;

    FaultyDirectory(Directory disk) {
        this.disk = disk;
    }

    private void changing() throws IOException {
        switch (fault) {
            case READ_ONLY -> throw new IOException("Read-only file system");
            case FULL -> throw new NoSpaceException("No space left on device");
            case NONE, READS, WRITES -> {}
        }
    }

    @Override
    public Output create(String name) throws IOException {
        changing();
        Output output = disk.create(name);
        return new Output() {
            @Override
            public long append(ByteBuffer source) throws IOException {
                changing();
                if (fault == Fault.WRITES) {
                    output.append(source.slice(source.position(), source.remaining() / 2));
                    throw new IOException("Input/output error");
                }
                return output.append(source);
            }

            @Override
            public long position() {
                return output.position();
            }

            @Override
            public void force() throws IOException {
                output.force();
            }

            @Override
            public boolean reserve(long length) {
                return fault != Fault.READ_ONLY && fault != Fault.FULL && output.reserve(length);
            }

            @Override
            public void trim() throws IOException {
                output.trim();
            }

            @Override
            public void close() throws IOException {
                output.close();
            }
        };
    }

    @Override
    public Input open(String name) throws IOException {
        Input input = disk.open(name);
        return new Input() {
            @Override
            public void readFully(long offset, ByteBuffer target) throws IOException {
                boolean isBad = offset <= badByte && badByte < offset + target.remaining();
                if (fault == Fault.READS || isBad) {
                    throw new IOException("Input/output error");
                }
                input.readFully(offset, target);
            }

            @Override
            public FileLayout layout(long offset, long length) {
                return input.layout(offset, length);
            }

            @Override
            public long length() throws IOException {
                return input.length();
            }

            @Override
            public void close() throws IOException {
                input.close();
            }
        };
    }

    @Override
    public boolean exists(String name) throws IOException {
        return disk.exists(name);
    }

    @Override
    public long length(String name) throws IOException {
        return disk.length(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        changing();
        disk.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        if (fault == Fault.READ_ONLY) {
            changing();
        }
        disk.delete(name);
    }

    @Override
    public List<String> list() throws IOException {
        return disk.list();
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        return disk.listFrom(from);
    }

    @Override
    public void trim(String name) throws IOException {
        if (fault == Fault.READ_ONLY) {
            changing();
        }
        disk.trim(name);
    }

    @Override
    public boolean release(String name, List<FileRange> ranges) throws IOException {
        if (fault == Fault.READ_ONLY) {
            changing();
        }
        if (fault == Fault.WRITES) {
            disk.release(name, ranges.subList(0, (ranges.size() + 1) / 2));
            throw new IOException("Input/output error");
        }
        return disk.release(name, ranges);
    }

    @Override
    public long allocatedBytes(String name) throws IOException {
        return disk.allocatedBytes(name);
    }

    @Override
    public void sync() throws IOException {
        disk.sync();
    }

    @Override
    public long usableBytes() throws IOException {
        return disk.usableBytes();
    }
}
