package org.opendedup.sar.metadata.remote;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.AtomicFile;

/**
 * A small file in the folder of a local database, {@value #NAME}: what the database has to do with the chain. The
 * database has the changes of the chain up to the point at least, and further ones of these owners only.
 *
 * @param owners whose history the database continues. While an owner asks for the next lease, which it may have got
 *     before a crash, there are several
 * @param point a point of the chain; the next segments may be older than the database
 */
record LocalState(UUID volume, List<Owner> owners, ChainPoint point) {
    static final String NAME = "SHIPPED";
    static final int VERSION = 1;
    private static final String MAGIC = "SAR-METADATA-SHIPPED";

    LocalState {
        owners = List.copyOf(owners);
    }

    /** Returns the state of who may be this owner, too. */
    LocalState with(Owner asked, ChainPoint reached) {
        List<Owner> all = new ArrayList<>(owners);
        all.add(asked);
        return new LocalState(volume, all, reached);
    }

    /** Writes the file; durable when it returns. */
    void write(Path folder) throws IOException {
        TextFile.Writer out =
                new TextFile.Writer(MAGIC, VERSION).line("volume %s", volume).point(point);
        for (Owner owner : owners) {
            out.line("owner %d %016x", owner.lease(), owner.token());
        }
        AtomicFile.write(folder.resolve(NAME), out.end(null));
    }

    /** Reads the file; null if there is none. */
    static @Nullable LocalState read(Path folder) throws IOException {
        Path file = folder.resolve(NAME);
        byte[] bytes;
        try {
            bytes = Files.readAllBytes(file);
        } catch (NoSuchFileException e) {
            return null;
        }
        TextFile.Reader in = new TextFile.Reader(bytes, file.toString(), MAGIC, VERSION, null);
        UUID volume = in.nextVolume();
        ChainPoint point = in.nextPoint();
        List<Owner> owners = new ArrayList<>();
        while (in.next()) {
            String[] values = in.values("owner", 2);
            owners.add(new Owner(in.number(values[0]), in.hex(values[1])));
        }
        return new LocalState(volume, owners, point);
    }
}
