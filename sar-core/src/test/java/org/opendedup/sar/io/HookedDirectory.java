package org.opendedup.sar.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A directory that calls the test before each change: the test may wait there, or throw instead of the change. */
public final class HookedDirectory implements Directory {
    public enum Call {
        APPEND,
        FORCE,
        RESERVE,
        TRIM,
        RELEASE,
        CLOSE,
        RENAME,
        LINK,
        SYNC,
        CHECK_NAME
    }

    public interface Hook {
        /** @param name name of the file before the change; empty for {@link Call#SYNC} */
        void before(Call call, String name) throws IOException;
    }

    public interface ReadHook {
        /** @param end of the range that is to be read (exclusive) */
        void before(String name, long offset, long end) throws IOException;
    }

    public volatile Hook hook = (call, name) -> {};
    /** Called before each read of a file; before it is opened, with an empty range. */
    public volatile ReadHook readHook = (name, offset, end) -> {};

    /** Called after each opening of a file for reading, before the caller gets it. */
    public volatile Consumer<String> openedHook = name -> {};

    /** Names of files in a place that takes no more, while another one does. */
    public final Set<String> inFullPlaces = ConcurrentHashMap.newKeySet();

    /** Bytes of the free space that other programs have taken since. */
    public volatile long takenBytes;

    /** How often the system was to begin to write what was appended to a file. */
    public final AtomicInteger begunWritings = new AtomicInteger();

    private final Directory directory;

    public HookedDirectory(Directory directory) {
        this.directory = directory;
    }

    /** From now on, each call of this kind throws this. */
    public void fail(Call failing, IOException cause) {
        hook = (call, name) -> {
            if (call == failing) {
                throw cause;
            }
        };
    }

    /** From now on, nothing happens before a change. */
    public void pass() {
        hook = (call, name) -> {};
    }

    @Override
    public Output create(String name) throws IOException {
        Output output = directory.create(name);
        return new Output() {
            @Override
            public long append(ByteBuffer source) throws IOException {
                hook.before(Call.APPEND, name);
                return output.append(source);
            }

            @Override
            public long position() {
                return output.position();
            }

            @Override
            public void startWriting() {
                begunWritings.incrementAndGet();
                output.startWriting();
            }

            @Override
            public void force() throws IOException {
                hook.before(Call.FORCE, name);
                output.force();
            }

            /** Returns false if the hook throws. */
            @Override
            public boolean reserve(long length) {
                try {
                    hook.before(Call.RESERVE, name);
                } catch (IOException refused) {
                    return false;
                }
                return output.reserve(length);
            }

            @Override
            public void trim() throws IOException {
                hook.before(Call.TRIM, name);
                output.trim();
            }

            @Override
            public void close() throws IOException {
                hook.before(Call.CLOSE, name);
                output.close();
            }
        };
    }

    @Override
    public Input open(String name) throws IOException {
        readHook.before(name, 0, 0);
        Input input = directory.open(name);
        openedHook.accept(name);
        return new Input() {
            @Override
            public void readFully(long offset, ByteBuffer target) throws IOException {
                readHook.before(name, offset, offset + target.remaining());
                input.readFully(offset, target);
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
        return directory.exists(name);
    }

    @Override
    public long length(String name) throws IOException {
        return directory.length(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        hook.before(Call.RENAME, from);
        directory.rename(from, to);
    }

    @Override
    public void link(String name, String further) throws IOException {
        hook.before(Call.LINK, name);
        directory.link(name, further);
    }

    @Override
    public void delete(String name) throws IOException {
        directory.delete(name);
    }

    @Override
    public List<String> list() throws IOException {
        return directory.list();
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        return directory.listFrom(from);
    }

    @Override
    public void trim(String name) throws IOException {
        hook.before(Call.TRIM, name);
        directory.trim(name);
    }

    @Override
    public boolean release(String name, List<FileRange> ranges) throws IOException {
        hook.before(Call.RELEASE, name);
        return directory.release(name, ranges);
    }

    @Override
    public boolean freesRanges(String name) throws IOException {
        return directory.freesRanges(name);
    }

    @Override
    public long allocatedBytes(String name) throws IOException {
        return directory.allocatedBytes(name);
    }

    @Override
    public void sync() throws IOException {
        hook.before(Call.SYNC, "");
        directory.sync();
    }

    @Override
    public void checkName(String name) throws IOException {
        hook.before(Call.CHECK_NAME, name);
        directory.checkName(name);
    }

    @Override
    public boolean takesMore(String name) {
        return !inFullPlaces.contains(name) && directory.takesMore(name);
    }

    @Override
    public long usableBytes() throws IOException {
        return Math.max(0, directory.usableBytes() - takenBytes);
    }

    @Override
    public String toString() {
        return directory.toString();
    }
}
