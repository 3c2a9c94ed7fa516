package org.opendedup.sar.remote;

import static org.opendedup.sar.container.format.PackFormat.isPack;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.RequestCost;
import org.opendedup.sar.io.UnavailableException;

/**
 * The packs in a store, for a reader that does not own the volume. What is made here is in a local folder, and what is
 * deleted is only hidden: nothing is put into the store or deleted there. So the reader can recover its copy of the
 * volume as after any crash. Safe for use by many threads.
 *
 * <p>A pack that is gone is an error that names the reason, if the owner has taken this reader for dead. A pack that is
 * there has the right bytes in any case: packs never change, and their numbers are not used again.
 */
public final class PrivatePacks implements Directory, Closeable {
    private final Directory own;
    private final RemoteDirectory stored;
    private final ReaderRegistration registration;
    private final Set<String> hidden = ConcurrentHashMap.newKeySet();

    /**
     * @param own the folder for what is made here
     * @param stored the packs in the store, with a folder in which nothing was made
     */
    public PrivatePacks(Directory own, RemoteDirectory stored, ReaderRegistration registration) {
        this.own = own;
        this.stored = stored;
        this.registration = registration;
    }

    @Override
    public Output create(String name) throws IOException {
        if (isPack(name) && stored.exists(name)) {
            throw new FileAlreadyExistsException(this + "/" + name);
        }
        return own.create(name);
    }

    /** Returns where a file is. */
    private Directory place(String name) throws IOException {
        if (!isPack(name) || own.exists(name)) {
            return own;
        }
        if (hidden.contains(name)) {
            throw new NoSuchFileException(this + "/" + name);
        }
        return stored;
    }

    @Override
    public Input open(String name) throws IOException {
        Directory place = place(name);
        return place == own ? own.open(name) : new ReadPack(name);
    }

    private Input openStored(String name) throws IOException {
        try {
            return stored.open(name);
        } catch (NoSuchFileException e) {
            throw gone(name, e);
        }
    }

    /** Returns the failure of a pack that is not in the store. */
    private IOException gone(String name, NoSuchFileException cause) throws IOException {
        return registration.isFoundLost()
                ? new UnavailableException(
                        name + " is not in " + stored + " any more: its owner did not hear from this mount in time, and"
                                + " has deleted what the volume does not need any more. Mount again",
                        cause)
                : cause;
    }

    @Override
    public boolean exists(String name) throws IOException {
        if (!isPack(name) || own.exists(name)) {
            return own.exists(name);
        }
        return !hidden.contains(name) && stored.exists(name);
    }

    @Override
    public long length(String name) throws IOException {
        return place(name).length(name);
    }

    @Override
    public void rename(String from, String to) throws IOException {
        own.rename(from, to);
    }

    @Override
    public void delete(String name) throws IOException {
        if (place(name) == own) {
            own.delete(name);
        } else if (stored.exists(name)) {
            hidden.add(name);
        } else {
            throw new NoSuchFileException(this + "/" + name);
        }
    }

    @Override
    public List<String> list() throws IOException {
        return listFrom("");
    }

    @Override
    public List<String> listFrom(String from) throws IOException {
        Set<String> names = new TreeSet<>(stored.listFrom(from));
        names.removeAll(hidden);
        names.addAll(own.listFrom(from));
        return List.copyOf(names);
    }

    @Override
    public List<String> names() throws IOException {
        return own.names();
    }

    @Override
    public void trim(String name) throws IOException {
        if (place(name) == own) {
            own.trim(name);
        }
    }

    @Override
    public void sync() throws IOException {
        own.sync();
    }

    @Override
    public void checkName(String name) throws IOException {
        own.checkName(name);
    }

    @Override
    public Optional<RequestCost> requestCost() {
        return stored.requestCost();
    }

    @Override
    public long usableBytes() throws IOException {
        return own.usableBytes();
    }

    /** Returns what was read in the folder and in the cache. */
    public PackStatistics statistics() {
        return stored.statistics();
    }

    /** Returns whether it was found that the owner took this reader for dead, so that packs may be missing. */
    public boolean isLost() {
        return registration.isLost();
    }

    /** Ends the registration and what reads the store; the store itself stays open. */
    @Override
    public void close() throws IOException {
        Closing closing = new Closing();
        closing.run(stored::close);
        closing.run(registration::close);
        closing.finish();
    }

    @Override
    public String toString() {
        return stored.toString();
    }

    /** A pack that is read in the store. Tails that a whole pack replaces meanwhile are left for that. */
    private final class ReadPack implements Input {
        private final String name;
        private volatile Input input;

        ReadPack(String name) throws IOException {
            this.name = name;
            input = openStored(name);
        }

        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            int position = target.position();
            try {
                input.readFully(offset, target);
            } catch (NoSuchFileException e) {
                Input before = input;
                input = openStored(name);
                before.close();
                readAgain(offset, target.position(position));
            }
        }

        private void readAgain(long offset, ByteBuffer target) throws IOException {
            try {
                input.readFully(offset, target);
            } catch (NoSuchFileException e) {
                throw gone(name, e);
            }
        }

        @Override
        public long length() throws IOException {
            try {
                return input.length();
            } catch (NoSuchFileException e) {
                throw gone(name, e);
            }
        }

        @Override
        public boolean forgetCopies(long offset, long length) throws IOException {
            return input.forgetCopies(offset, length);
        }

        @Override
        public void expect(long offset, long length) {
            input.expect(offset, length);
        }

        @Override
        public void close() throws IOException {
            input.close();
        }
    }
}
