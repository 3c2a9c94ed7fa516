package org.opendedup.sar.sim.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** Measures the disk space of each family of a metadata database that is not open. */
final class DatabaseSizes {
    private DatabaseSizes() {}

    /**
     * Returns a table as text: records and bytes of each family with its indexes and filters. Replaced records count
     * too.
     */
    static String of(Path folder) throws IOException {
        RocksDB.loadLibrary();
        StringBuilder table = new StringBuilder(String.format(
                "%-8s %12s %14s %8s %12s %12s%n", "family", "records", "bytes", "each", "indexes", "filters"));
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        try (Options options = new Options();
                ColumnFamilyOptions familyOptions = new ColumnFamilyOptions();
                DBOptions databaseOptions = new DBOptions()) {
            List<ColumnFamilyDescriptor> families = RocksDB.listColumnFamilies(options, folder.toString()).stream()
                    .map(name -> new ColumnFamilyDescriptor(name, familyOptions))
                    .toList();
            try (RocksDB database = RocksDB.openReadOnly(databaseOptions, folder.toString(), families, handles)) {
                for (ColumnFamilyHandle family : handles) {
                    append(table, database, family);
                    family.close();
                }
            }
        } catch (RocksDBException e) {
            throw new IOException(e);
        }
        return table.toString();
    }

    private static void append(StringBuilder table, RocksDB database, ColumnFamilyHandle family)
            throws RocksDBException {
        String tables = database.getProperty(family, "rocksdb.aggregated-table-properties");
        long records = field(tables, "# entries");
        long bytes = database.getLongProperty(family, "rocksdb.total-sst-files-size");
        if (records > 0) {
            table.append(String.format(
                    "%-8s %12d %14d %8.1f %12d %12d%n",
                    new String(family.getName(), StandardCharsets.US_ASCII),
                    records,
                    bytes,
                    (double) bytes / records,
                    field(tables, "index block size"),
                    field(tables, "filter block size")));
        }
    }

    /** Parses a field of a list such as {@code # entries=5; index block size (user-key? 1, ...)=12; }. */
    private static long field(String properties, String name) {
        for (String property : properties.split(";")) {
            if (property.strip().startsWith(name)) {
                return Long.parseLong(
                        property.substring(property.lastIndexOf('=') + 1).strip());
            }
        }
        return 0;
    }
}
