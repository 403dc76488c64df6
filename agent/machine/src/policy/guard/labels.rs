//! Labels of what usually cannot be undone, in the languages that desktops speak most.
//!
//! One line for a language: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Czech, Russian, Ukrainian,
//! Swedish, Danish and Norwegian, Finnish, Turkish, Hungarian, Romanian, Greek, Japanese, Chinese, Korean. Words that applications
//! use for harmless things, too, such as the Polish one for switching something off, are left out: people stop reading
//! prompts that come too often.

use std::sync::LazyLock;

use crate::policy::looks::KnownNames;
use deskhand_ui::pattern::NameGlobs;

/// Possible harm of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Peril {
    /// Data is deleted.
    Deletes,
    /// Changes that were not saved are lost.
    Discards,
    /// Data is replaced.
    Overwrites,
    /// Something goes to others: a message, an order, money.
    Sends,
    /// The computer's session ends.
    EndsSession,
}

impl Peril {
    /// The reason for a question.
    pub(super) const fn why(self) -> &'static str {
        match self {
            Self::Deletes => "it deletes data",
            Self::Discards => "unsaved changes would be lost",
            Self::Overwrites => "it may overwrite data",
            Self::Sends => "it sends something to others and cannot be taken back",
            Self::EndsSession => "it ends the computer's session",
        }
    }
}

/// The labels of what brings each of them about.
pub(super) static PERILS: LazyLock<[(Peril, KnownNames); 5]> = LazyLock::new(|| {
    [
        (Peril::Deletes, KnownNames::new(DELETES)),
        (Peril::Discards, KnownNames::new(DISCARDS)),
        (Peril::Overwrites, KnownNames::new(OVERWRITES)),
        (Peril::Sends, KnownNames::new(SENDS)),
        (Peril::EndsSession, KnownNames::new(ENDS_SESSION)),
    ]
});

const DELETES: &[&str] = &[
    "Delete|Delete All|Delete Permanently*|Delete File*|Delete Folder*|Delete Account*|Empty Trash*|Erase*|Move to Trash|Uninstall*",
    "Löschen|Alle löschen|Alles löschen|Endgültig löschen*|Unwiderruflich löschen*|Datei löschen|Dateien löschen|Ordner löschen|Konto löschen|Papierkorb leeren|In den Papierkorb*|Deinstallieren",
    "Supprimer|Tout supprimer|Supprimer définitivement*|Supprimer le fichier*|Supprimer le dossier*|Supprimer le compte*|Vider la corbeille|Mettre à la corbeille|Déplacer vers la corbeille|Désinstaller",
    "Eliminar|Borrar|Eliminar todo*|Borrar todo*|Eliminar permanentemente*|Eliminar definitivamente*|Eliminar archivo*|Eliminar carpeta*|Eliminar cuenta*|Vaciar la papelera|Mover a la papelera|Desinstalar",
    "Elimina|Elimina tutto|Elimina definitivamente*|Elimina file*|Elimina cartella*|Elimina account*|Svuota il cestino|Sposta nel cestino|Disinstalla",
    "Excluir|Apagar|Excluir tudo|Apagar tudo|Excluir permanentemente*|Excluir arquivo*|Excluir pasta*|Excluir conta*|Esvaziar a lixeira|Esvaziar lixeira|Mover para a lixeira|Mover para o lixo",
    "Verwijderen|Alles verwijderen|Definitief verwijderen*|Permanent verwijderen*|Bestand verwijderen|Map verwijderen|Account verwijderen|Prullenbak legen|Prullenbak leegmaken|Naar prullenbak*|Naar de prullenbak*|Verplaatsen naar prullenbak",
    "Usuń|Usuń wszystko|Usuń trwale*|Usuń plik*|Usuń folder*|Usuń konto*|Opróżnij kosz|Przenieś do kosza|Odinstaluj",
    "Smazat|Odstranit|Smazat vše|Trvale smazat*|Trvale odstranit*|Odstranit trvale*|Smazat soubor*|Smazat účet*|Vysypat koš|Vyprázdnit koš|Přesunout do koše|Odinstalovat",
    "Удалить|Удалить все|Удалить всё|Удалить навсегда*|Удалить безвозвратно*|Удалить файл*|Удалить папку*|Удалить аккаунт*|Очистить корзину|Переместить в корзину|Отправить в корзину",
    "Видалити|Видалити все|Видалити назавжди*|Видалити остаточно*|Видалити файл*|Видалити обліковий запис*|Спорожнити смітник|Перемістити до смітника|Перемістити у смітник",
    "Ta bort|Radera|Ta bort permanent*|Radera permanent*|Ta bort alla|Radera alla|Töm papperskorgen|Flytta till papperskorgen|Avinstallera",
    "Slet|Slett|Slet permanent*|Slett permanent*|Slett for godt*|Slet alle|Slett alle|Tøm papirkurven|Tøm papirkurv|Flyt til papirkurven|Flytt til papirkurven|Afinstaller|Avinstaller",
    "Poista|Poista pysyvästi*|Poista kaikki|Tyhjennä roskakori|Siirrä roskakoriin|Poista asennus",
    "Sil|Tümünü sil|Kalıcı olarak sil*|Dosyayı sil|Hesabı sil*|Çöpü boşalt|Çöp kutusunu boşalt|Çöpe taşı|Çöp kutusuna taşı",
    "Törlés|Összes törlése|Végleges törlés*|Törlés véglegesen*|Fájl törlése|Kuka ürítése|Áthelyezés a Kukába",
    "Șterge|Ștergere|Șterge tot|Șterge definitiv*|Șterge permanent*|Golește coșul de gunoi|Golește coșul|Mută la gunoi|Mută la coș",
    "Διαγραφή|Διαγραφή όλων|Οριστική διαγραφή*|Μόνιμη διαγραφή*|Άδειασμα απορριμμάτων|Μετακίνηση στα απορρίμματα",
    "削除|削除する|すべて削除*|完全に削除*|ファイルを削除*|アカウントを削除*|ゴミ箱を空にする*|ゴミ箱へ移動*|ゴミ箱に移動*|アンインストール*",
    "删除|刪除|全部删除|全部刪除|永久删除*|永久刪除*|彻底删除*|删除文件*|删除账户*|删除账号*|清空回收站*|清空垃圾桶*|移到回收站*|移动到回收站*|移至垃圾桶*|卸载|解除安裝",
    "삭제|삭제하기|모두 삭제|영구 삭제*|영구적으로 삭제*|파일 삭제|계정 삭제*|휴지통 비우기|휴지통으로 이동*|휴지통으로 옮기기*",
];

const DISCARDS: &[&str] = &[
    "Don't Save|Do Not Save|Discard|Discard Changes*|Discard All*|Close without Saving|Exit without Saving|Quit without Saving",
    "Nicht speichern|Verwerfen|Änderungen verwerfen*|Alle verwerfen|Ohne Speichern *|Ohne zu speichern *|Schließen ohne zu speichern|Beenden ohne zu speichern",
    "Ne pas enregistrer|Abandonner|Abandonner les modifications|Ignorer les modifications|Annuler les modifications|Fermer sans enregistrer|Quitter sans enregistrer",
    "No guardar|Descartar|Descartar cambios|Descartar los cambios|Cerrar sin guardar|Salir sin guardar",
    "Non salvare|Scarta|Scarta modifiche|Scarta le modifiche|Chiudi senza salvare|Esci senza salvare",
    "Não salvar|Não guardar|Descartar alterações|Descartar as alterações|Fechar sem salvar|Fechar sem guardar|Sair sem salvar|Sair sem guardar",
    "Niet opslaan|Verwerpen|Wijzigingen verwerpen|Sluiten zonder opslaan|Sluiten zonder op te slaan|Afsluiten zonder opslaan",
    "Nie zapisuj|Odrzuć|Odrzuć zmiany|Porzuć zmiany|Zamknij bez zapisywania|Zakończ bez zapisywania",
    "Neukládat|Zahodit|Zahodit změny|Zavřít bez uložení|Ukončit bez uložení",
    "Не сохранять|Отбросить|Отклонить изменения|Отменить изменения|Закрыть без сохранения|Выйти без сохранения",
    "Не зберігати|Відкинути|Відкинути зміни|Закрити без збереження|Вийти без збереження",
    "Spara inte|Förkasta|Förkasta ändringar|Kasta|Stäng utan att spara|Avsluta utan att spara",
    "Gem ikke|Ikke gem|Ikke lagre|Lagre ikke|Kassér|Kassér ændringer|Forkast|Forkast endringer|Luk uden at gemme|Lukk uten å lagre",
    "Älä tallenna|Hylkää|Hylkää muutokset|Sulje tallentamatta|Lopeta tallentamatta",
    "Kaydetme|Kaydetmeden kapat|Kaydetmeden çık|Değişiklikleri at|Vazgeç ve kapat",
    "Ne mentse|Nincs mentés|Elvetés|Változtatások elvetése|Módosítások elvetése|Bezárás mentés nélkül|Kilépés mentés nélkül",
    "Nu salva|Nu salvați|Nu se salvează|Renunță la modificări|Închide fără a salva|Închide fără salvare",
    "Να μην αποθηκευτεί|Να μη γίνει αποθήκευση|Χωρίς αποθήκευση|Απόρριψη|Απόρριψη αλλαγών|Κλείσιμο χωρίς αποθήκευση",
    "保存しない|破棄|破棄する|変更を破棄*|保存せずに閉じる*|保存せずに終了*",
    "不保存|不儲存|放弃|放弃更改*|放弃修改*|丢弃|捨棄|不保存并关闭|不保存并退出|关闭且不保存|直接关闭",
    "저장 안 함|저장하지 않음|버리기|변경 내용 버리기|변경 사항 버리기|저장하지 않고 닫기*|저장하지 않고 끝내기*",
];

const OVERWRITES: &[&str] = &[
    "Overwrite*|Replace|Replace File*|Replace Existing*",
    "Überschreiben|Ersetzen|Datei ersetzen|Vorhandene ersetzen",
    "Écraser|Remplacer|Remplacer le fichier",
    "Sobrescribir|Sobreescribir|Reemplazar",
    "Sovrascrivi|Sostituisci",
    "Sobrescrever|Substituir",
    "Overschrijven|Vervangen",
    "Nadpisz|Zastąp",
    "Přepsat|Nahradit",
    "Перезаписать|Заменить",
    "Перезаписати|Замінити",
    "Skriv över|Ersätt",
    "Overskriv|Erstat|Erstatt",
    "Korvaa|Ylikirjoita",
    "Üzerine yaz",
    "Felülírás|Csere",
    "Suprascrie|Înlocuiește",
    "Αντικατάσταση|Επανεγγραφή",
    "上書き|上書きする|置き換える|置換|置換する",
    "覆盖|覆蓋|替换|取代",
    "덮어쓰기|덮어쓰|바꾸기",
];

const SENDS: &[&str] = &[
    "Send|Send Now|Send Message|Send Email|Publish|Publish Now|Submit Order*|Place Order*|Place Your Order*|Buy|Buy Now|Pay|Pay Now",
    "Senden|Jetzt senden|Absenden|Nachricht senden|E-Mail senden|Veröffentlichen|Bestellen|Jetzt bestellen|Kostenpflichtig bestellen|Zahlungspflichtig bestellen|Kaufen|Jetzt kaufen|Bezahlen|Jetzt bezahlen",
    "Envoyer|Envoyer maintenant|Envoyer le message|Publier|Acheter|Acheter maintenant|Commander|Passer la commande|Payer|Payer maintenant",
    "Enviar|Enviar ahora|Enviar mensaje|Publicar|Comprar|Comprar ahora|Realizar pedido|Hacer pedido|Pagar|Pagar ahora",
    "Invia|Invia ora|Invia messaggio|Pubblica|Acquista|Acquista ora|Compra|Compra ora|Ordina|Invia ordine|Paga|Paga ora",
    "Enviar agora|Enviar mensagem|Comprar agora|Finalizar compra|Finalizar pedido|Fazer pedido|Pagar agora",
    "Verzenden|Versturen|Nu verzenden|Bericht verzenden|Publiceren|Kopen|Nu kopen|Bestellen en betalen|Bestelling plaatsen|Betalen|Nu betalen",
    "Wyślij|Wyślij teraz|Wyślij wiadomość|Opublikuj|Kup|Kup teraz|Zamów|Złóż zamówienie|Zapłać|Zapłać teraz",
    "Odeslat|Poslat|Odeslat zprávu|Zveřejnit|Publikovat|Koupit|Objednat|Zaplatit",
    "Отправить|Отправить сейчас|Отправить сообщение|Опубликовать|Купить|Купить сейчас|Заказать|Оформить заказ|Оплатить",
    "Надіслати|Відправити|Надіслати повідомлення|Опублікувати|Купити|Замовити|Оформити замовлення|Сплатити|Оплатити",
    "Skicka|Skicka nu|Skicka meddelande|Publicera|Köp|Köp nu|Beställ|Lägg beställning|Betala|Betala nu",
    "Send nu|Send nå|Send besked|Send melding|Udgiv|Offentliggør|Publiser|Køb|Kjøp|Køb nu|Kjøp nå|Bestil|Bestill|Betal|Betal nu|Betal nå",
    "Lähetä|Lähetä nyt|Lähetä viesti|Julkaise|Osta|Osta nyt|Tilaa|Maksa|Maksa nyt",
    "Gönder|Şimdi gönder|İleti gönder|Yayınla|Satın al|Şimdi satın al|Sipariş ver|Siparişi tamamla|Öde|Şimdi öde|Ödeme yap",
    "Küldés|Küldés most|Üzenet küldése|Közzététel|Vásárlás|Megvásárlás|Megrendelés|Fizetés",
    "Trimite|Trimite acum|Trimite mesajul|Publică|Cumpără|Cumpără acum|Comandă|Plasează comanda|Plătește",
    "Αποστολή|Αποστολή τώρα|Αποστολή μηνύματος|Δημοσίευση|Αγορά|Αγορά τώρα|Παραγγελία|Ολοκλήρωση παραγγελίας|Πληρωμή",
    "送信|送信する|今すぐ送信|公開|公開する|投稿|投稿する|購入|購入する|今すぐ購入*|注文する|注文を確定*|支払う|お支払い",
    "发送|發送|傳送|立即发送|发布|發佈|购买|購買|立即购买|立即購買|提交订单|提交訂單|下单|付款|支付|立即支付|立即付款",
    "보내기|지금 보내기|전송|게시|게시하기|구매|구매하기|지금 구매|주문하기|결제|결제하기",
];

const ENDS_SESSION: &[&str] = &[
    "Shut Down*|Power Off*|Restart Now|Log Out*",
    "Herunterfahren|Ausschalten|Jetzt neu starten|Abmelden",
    "Éteindre|Redémarrer maintenant|Se déconnecter|Fermer la session",
    "Apagar el equipo|Reiniciar ahora|Cerrar sesión|Cerrar la sesión",
    "Spegni il computer|Arresta il sistema|Riavvia ora|Termina sessione|Termina la sessione",
    "Desligar o computador|Reiniciar agora|Encerrar sessão|Terminar sessão",
    "Computer uitschakelen|Nu herstarten|Afmelden|Uitloggen",
    "Wyłącz komputer|Uruchom ponownie teraz|Wyloguj|Wyloguj się",
    "Vypnout počítač|Restartovat nyní|Odhlásit|Odhlásit se",
    "Выключить компьютер|Перезагрузить сейчас|Завершить сеанс|Выйти из системы",
    "Вимкнути комп'ютер|Перезавантажити зараз|Завершити сеанс|Вийти із системи",
    "Stäng av datorn|Starta om nu|Logga ut",
    "Luk computeren ned|Slå av maskinen|Genstart nu|Start på nytt nå|Log ud|Logg ut",
    "Sammuta|Käynnistä uudelleen nyt|Kirjaudu ulos",
    "Bilgisayarı kapat|Şimdi yeniden başlat|Oturumu kapat",
    "Kikapcsolás|Újraindítás most|Kijelentkezés",
    "Oprește calculatorul|Repornește acum|Deconectare",
    "Τερματισμός|Επανεκκίνηση τώρα|Αποσύνδεση",
    "シャットダウン*|電源オフ|電源を切る|今すぐ再起動*|ログアウト*",
    "关机|關機|立即重启|立即重新启动|注销|登出",
    "시스템 종료|전원 끄기|컴퓨터 끄기|지금 다시 시작|로그아웃",
];

/// Names of what data is dropped on to delete it.
pub(super) static TRASH: LazyLock<KnownNames> = LazyLock::new(|| {
    KnownNames::new(&[
        "Trash|Wastebasket|Waste Basket|Recycle Bin|Rubbish Bin|Papierkorb|Corbeille|Papelera|Papelera de reciclaje|Cestino|Lixeira|Lixo|Prullenbak|Kosz|Koš|Корзина|Смітник|Кошик|Papperskorgen|Papperskorg|Papirkurv|Papirkurven|Roskakori|Çöp|Çöp Kutusu|Kuka|Lomtár|Coș de gunoi|Απορρίμματα|ゴミ箱|回收站|垃圾桶|垃圾箱|휴지통",
    ])
});

/// Labels of buttons that bring about nothing but the end of a dialog.
pub(super) static CANCELS: LazyLock<NameGlobs> = LazyLock::new(|| NameGlobs::new(CANCEL));

const CANCEL: &[&str] = &[
    "Cancel|Keep|Keep *|Back|Go Back|Help|Abort|Stop|Skip|Later|Not Now|Don't Delete|Don't Replace|Don't Close|Save|Save *",
    "Abbrechen|Behalten|Zurück|Hilfe|Überspringen|Später|Nicht löschen|Nicht ersetzen|Speichern|Speichern *",
    "Annuler|Conserver|Garder|Retour|Aide|Ignorer|Plus tard|Ne pas supprimer|Enregistrer|Enregistrer *",
    "Cancelar|Conservar|Volver|Atrás|Ayuda|Omitir|Más tarde|No eliminar|Guardar|Guardar *",
    "Annulla|Mantieni|Indietro|Aiuto|Salta|Più tardi|Non eliminare|Salva|Salva *",
    "Manter|Voltar|Ajuda|Ignorar|Mais tarde|Não excluir|Salvar|Salvar *",
    "Annuleren|Behouden|Terug|Hulp|Overslaan|Later|Niet verwijderen|Opslaan|Opslaan *",
    "Anuluj|Zachowaj|Wstecz|Pomoc|Pomiń|Później|Nie usuwaj|Zapisz|Zapisz *",
    "Zrušit|Ponechat|Zpět|Nápověda|Přeskočit|Později|Neodstraňovat|Uložit|Uložit *",
    "Отмена|Отменить|Оставить|Назад|Справка|Пропустить|Позже|Не удалять|Сохранить|Сохранить *",
    "Скасувати|Залишити|Назад|Довідка|Пропустити|Пізніше|Не видаляти|Зберегти|Зберегти *",
    "Avbryt|Behåll|Tillbaka|Hjälp|Hoppa över|Senare|Ta inte bort|Spara|Spara *",
    "Annuller|Annullér|Behold|Tilbage|Tilbake|Hjælp|Hjelp|Spring over|Hopp over|Senere|Gem|Gem *|Lagre|Lagre *",
    "Peruuta|Peru|Säilytä|Takaisin|Ohje|Ohita|Myöhemmin|Älä poista|Tallenna|Tallenna *",
    "İptal|Vazgeç|Tut|Geri|Yardım|Atla|Daha sonra|Silme|Kaydet|Kaydet *",
    "Mégse|Mégsem|Megtartás|Vissza|Súgó|Kihagyás|Később|Mentés|Mentés *",
    "Anulează|Renunță|Păstrează|Înapoi|Ajutor|Omite|Mai târziu|Salvează|Salvează *",
    "Άκυρο|Ακύρωση|Διατήρηση|Πίσω|Βοήθεια|Παράλειψη|Αργότερα|Αποθήκευση|Αποθήκευση *",
    "キャンセル|戻る|ヘルプ|スキップ|後で|削除しない|保存|保存する|名前を付けて保存",
    "取消|保留|返回|帮助|說明|跳过|稍后|不删除|保存|另存为|儲存",
    "취소|유지|뒤로|도움말|건너뛰기|나중에|삭제 안 함|저장|저장하기",
];

/// Labels that decline what is asked.
pub(super) static DECLINES: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "No|Nein|Non|Não|Nee|Nie|Ne|Нет|Ні|Nej|Nei|Ei|Hayır|Nem|Nu|Όχι|いいえ|否|아니요|아니오|No to All|Nein, nichts|No, thanks",
    ])
});

/// Labels that close a window.
pub(super) static CLOSES: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "Close|Schließen|Fermer|Cerrar|Chiudi|Fechar|Sluiten|Zamknij|Zavřít|Закрыть|Закрити|Stäng|Luk|Lukk|Sulje|Kapat|Bezárás|Închide|Κλείσιμο|閉じる|关闭|關閉|닫기",
    ])
});

/// Labels that save the document of a window.
pub(in crate::policy) static SAVES: LazyLock<KnownNames> = LazyLock::new(|| {
    KnownNames::new(&[
        "Save|Save Changes|Speichern|Enregistrer|Guardar|Salva|Salvar|Opslaan|Zapisz|Uložit|Сохранить|Зберегти|Spara|Gem|Lagre|Tallenna|Kaydet",
        "Mentés|Salvează|Αποθήκευση|保存|保存する|儲存|저장|저장하기|Save all|Alle speichern|Tout enregistrer",
    ])
});

/// English labels that delete: they remove, clear or reset everything or an account, or move it to the bin. Other labels: `DELETES`.
pub(super) static DELETES_ALL: LazyLock<KnownNames> = LazyLock::new(|| {
    KnownNames::new(&[
        "Remove All*|Remove Everything*|Remove Account*|Remove * Account|Remove Permanently*|Permanently Remove*|Remove * Permanently",
        "Clear All*|Clear Everything*|Clear * Data|Clear Data|Clear Storage*|Reset All*|Reset Everything*|Reset Account*|Factory Reset*",
        "Reset to Factory*|Format Disk*|Format Drive*|Format Volume*|Format Permanently*|Format Everything*|Format * Permanently|Wipe*",
        "Move to Bin|Move to the Bin|Move to Rubbish Bin|Move to Recycle Bin|Move to Wastebasket|Move to the Trash|Empty Bin|Empty the Bin",
        "Empty Rubbish Bin|Empty Recycle Bin|Empty Wastebasket|Empty the Trash|Close Account*|Deactivate Account*|Permanently Delete*",
    ])
});

/// Labels that look like these and delete nothing that cannot be had again.
pub(super) static DELETES_NOTHING: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "*format*ing*|*filter*|*highlight*|*selection*|*breakpoint*|*style*|*zoom*|*layout*|*spacing*|*indent*|*hyperlink*|*sort*|*toolbar*",
    ])
});

/// Labels of buttons that delete the thing that they name.
pub(super) static DELETES_NAMED: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "Delete *|Erase *|* löschen|Supprimer *|Eliminar *|Borrar *|Elimina *|Excluir *|Apagar *|Verwijder *|* verwijderen|Usuń *|Smazat *",
        "Odstranit *|Удалить *|Видалити *|Radera *|Slet *|Slett *|Poista *|* törlése|Șterge *|Διαγραφή *|*を削除*|删除*|刪除*|* 삭제",
    ])
});

/// Labels that edit a document, which undo brings back.
pub(super) static EDITS: LazyLock<NameGlobs> = LazyLock::new(|| {
    NameGlobs::new(&[
        "Delete Row*|Delete Column*|Delete Cell*|Delete Content*|Delete Selected*|Delete Table*|Delete Line*|Delete Character*|Delete Word*",
        "Zeile* löschen|Spalte* löschen|Zelle* löschen|Inhalt* löschen|Tabelle löschen|Supprimer les lignes|Supprimer les colonnes",
    ])
});

/// Names of the fields whose text Return sends to others.
pub(super) static MESSAGES: LazyLock<KnownNames> = LazyLock::new(|| {
    KnownNames::new(&[
        "Message|Message to *|Message @*|Message #*|Type a message*|Write a message*|Send a message*|Your message*|Chat message*",
        "Comment|Add a comment*|Write a comment*|Reply|Reply to *|Write a reply*|Nachricht|Nachricht an *|Nachricht schreiben*",
        "Kommentar*|Antworten*|Message à *|Écrire un message*|Commentaire*|Répondre*|Mensaje|Escribe un mensaje*|Comentario*|Responder*",
        "Messaggio|Scrivi un messaggio*|Commento*|Rispondi*|Mensagem*|Comentário*|Bericht*|Reactie*|Wiadomość*|Komentarz*|Zpráva*",
        "Сообщение*|Комментарий*|Ответить*|Повідомлення*|メッセージ*|コメント*|消息|发消息*|评论*|메시지*|댓글*",
    ])
});
