package org.opendedup.sar.sdfs.cli.console;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.opendedup.sar.common.Printable;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.io.PrivateFolder;
import org.opendedup.sar.sdfs.keys.SecretSource;

/**
 * The key and the certificate of the console, from a key store.
 *
 * @param context for connections
 * @param names host names and addresses of the certificate
 * @param fingerprint SHA-256 of the certificate, in hexadecimal digits with colons, by which people recognize it
 */
public record TlsKeys(SSLContext context, Set<String> names, String fingerprint) {
    /** Name of the key store that is made, in the folder of the volume files. */
    public static final String FILE = "console.p12";

    /** Environment variable with the password of a given key store. */
    public static final String PASSWORD = "SDFS_KEY_STORE_PASSWORD";

    /** Java's own default; the mode of the file protects a key store that is made here. */
    private static final String DEFAULT_PASSWORD = "changeit";

    private static final int VALID_DAYS = 825;
    private static final int KEYTOOL_SECONDS_MAX = 60;

    /** Types of names in a certificate (RFC 5280, section 4.2.1.6). */
    private static final int DNS_NAME = 2;

    private static final int IP_ADDRESS = 7;

    /**
     * Reads a key store.
     *
     * @param store PKCS #12 or JKS
     * @param password empty: Java's default
     * @throws IOException if it cannot be read, or has no key; the message names it
     */
    public static TlsKeys read(Path store, String password) throws IOException {
        char[] characters = (password.isEmpty() ? DEFAULT_PASSWORD : password).toCharArray();
        try {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, characters);
            }
            KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            managers.init(keys, characters);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(managers.getKeyManagers(), null, null);
            X509Certificate certificate = certificate(keys, store);
            return new TlsKeys(context, names(certificate), fingerprint(certificate));
        } catch (NoSuchFileException e) {
            throw new IOException("there is no key store " + store, e);
        } catch (GeneralSecurityException | IOException e) {
            throw new IOException(
                    "the key store " + store + " cannot be used: " + e.getMessage() + "; " + PASSWORD
                            + " in the environment is its password, if that is not " + DEFAULT_PASSWORD,
                    e);
        }
    }

    /** Returns the keys of the key store in the folder of the volume files; makes it if there is none. */
    public static TlsKeys own(Path folder, String host) throws IOException {
        Path store = folder.resolve(FILE);
        PrivateFolder.at(store).requireSafe();
        if (Files.notExists(store)) {
            make(folder, store, host);
        }
        return read(store, "");
    }

    private static X509Certificate certificate(KeyStore keys, Path store) throws GeneralSecurityException, IOException {
        for (String alias : Collections.list(keys.aliases())) {
            if (keys.isKeyEntry(alias) && keys.getCertificate(alias) instanceof X509Certificate certificate) {
                return certificate;
            }
        }
        throw new IOException(store + " has no private key with a certificate");
    }

    private static Set<String> names(X509Certificate certificate) throws GeneralSecurityException {
        Set<String> names = new LinkedHashSet<>();
        Collection<List<?>> alternatives = certificate.getSubjectAlternativeNames();
        for (List<?> name : alternatives == null ? List.<List<?>>of() : alternatives) {
            int type = (Integer) name.get(0);
            if (type == DNS_NAME || type == IP_ADDRESS) {
                names.add(String.valueOf(name.get(1)).toLowerCase(Locale.ROOT));
            }
        }
        return names;
    }

    private static String fingerprint(X509Certificate certificate) throws GeneralSecurityException {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(certificate.getEncoded());
        return HexFormat.ofDelimiter(":").withUpperCase().formatHex(hash);
    }

    /** The JDK makes certificates only by its program keytool. */
    private static void make(Path folder, Path store, String host) throws IOException {
        PrivateFiles.createFolders(folder);
        Path work = Files.createTempDirectory(folder, "console");
        Path made = work.resolve(FILE);
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                made.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                DEFAULT_PASSWORD,
                "-alias",
                "console",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-validity",
                Integer.toString(VALID_DAYS),
                "-dname",
                "CN=SDFS console",
                "-ext",
                "san=" + String.join(",", alternatives(host)));
        // keytool makes the file with the process's umask: it does so in a folder that only the owner may enter.
        try {
            var builder = new ProcessBuilder(command).redirectErrorStream(true);
            SecretSource.withoutSecrets(builder);
            Process keytool = builder.start();
            keytool.getOutputStream().close();
            String output = new String(keytool.getInputStream().readAllBytes());
            if (!keytool.waitFor(KEYTOOL_SECONDS_MAX, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
                throw new IOException("keytool made no key store: " + Printable.line(output.strip()));
            }
            PrivateFiles.write(store, Files.readAllBytes(made));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while keytool makes a key store", e);
        } finally {
            PrivateFiles.deleteFolder(work);
        }
    }

    private static Set<String> alternatives(String host) throws IOException {
        Set<String> names = new LinkedHashSet<>(List.of("dns:localhost", "ip:127.0.0.1", "ip:0:0:0:0:0:0:0:1"));
        InetAddress address = InetAddress.getByName(host);
        if (address.isAnyLocalAddress()) {
            addAddressesOfTheMachine(names);
        } else {
            names.add("ip:" + plain(address));
        }
        if (!host.matches("[0-9.]+|.*:.*")) {
            names.add("dns:" + host);
        }
        try {
            InetAddress own = InetAddress.getLocalHost();
            names.add("dns:" + own.getHostName());
            names.add("dns:" + own.getCanonicalHostName());
        } catch (IOException e) {
            return names; // A machine whose name has no address.
        }
        names.removeIf(name -> !name.matches("(dns|ip):[A-Za-z0-9.:-]+"));
        return names;
    }

    private static void addAddressesOfTheMachine(Set<String> names) throws IOException {
        for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress address : Collections.list(network.getInetAddresses())) {
                names.add("ip:" + plain(address));
            }
        }
    }

    private static String plain(InetAddress address) {
        return address.getHostAddress().replaceFirst("%.*", "");
    }
}
